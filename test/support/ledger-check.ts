export { differencesFromLedger, movements, type AskedCharge } from '../../scripts/attack/ledger-check.js';
