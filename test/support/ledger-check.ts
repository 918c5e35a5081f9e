export { differencesFromLedger, movements, type AskedCharge } from '../../tools/chaos/ledger-check.js';
