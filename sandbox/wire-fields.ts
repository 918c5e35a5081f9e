import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import { toDecimal, toMinorUnits } from './money.js';
import type { JsonObject } from './records.js';
import type { VersionRules } from './versions.js';

/** An amount in a body: minor units, or the digits of a decimal. `minorUnits` converts both to minor units. */
type WireAmount = number | WireNumber;

const decimal = z
  .custom<WireNumber>((value) => value instanceof WireNumber, 'must be a decimal number')
  .meta({ type: 'number' });

/** Keys of decimals in version 1.0.0: their digits must be read as written. */
export const DECIMAL_KEYS = ['amount', 'unit_price'];

/** An amount of money that moves. */
export function amountSchema(rules: VersionRules): z.ZodType<WireAmount> {
  return rules.decimalAmounts ? decimal : z.int().positive();
}

/** A price. It may be zero, or negative for a discount. */
export function priceSchema(rules: VersionRules): z.ZodType<WireAmount> {
  return rules.decimalAmounts ? decimal : z.int();
}

/** Throws the documented 400, which names the field, for a decimal that is not a whole number of minor units. */
export function minorUnits(value: WireAmount, currency: string, field: string): number {
  if (typeof value === 'number') return value;
  const minor = toMinorUnits(value.text, currency);
  if (typeof minor !== 'number') throw invalidRequest(`${field}: ${minor.fault}`);
  return minor;
}

/** Like `minorUnits`, for an amount that must be positive. */
export function positiveMinorUnits(value: WireAmount, currency: string, field: string): number {
  const minor = minorUnits(value, currency, field);
  if (minor <= 0) throw invalidRequest(`${field}: must be more than 0`);
  return minor;
}

export function showAmount(rules: VersionRules, minor: number, currency: string): WireAmount {
  return rules.decimalAmounts ? new WireNumber(toDecimal(minor, currency)) : minor;
}

/** An address; its country is stored as alpha-3. A version with alpha-2 accepts both. */
export function addressSchema(rules: VersionRules): z.ZodType<JsonObject> {
  const text = z.string().optional();
  const length = rules.countryLength;
  return z
    .looseObject({
      country: z
        .string()
        .refine(
          (code) => isCountry(code, 3) || isCountry(code, length),
          `is no ISO 3166-1 alpha-${length} country code`,
        )
        .meta({ examples: length === 2 ? ['IT', 'US'] : ['ITA', 'USA'] })
        .optional(),
      state: text,
      city: text,
      line1: text,
      line2: text,
      zip_code: text,
      title: text,
      first_name: text,
      last_name: text,
      phone: text,
      email: text,
    })
    .overwrite((address) => (address.country ? { ...address, country: toAlpha3(address.country) } : address));
}

export function showAddress(rules: VersionRules, address: JsonObject | undefined): JsonObject | undefined {
  if (address === undefined || rules.countryLength === 3) return address;
  const { country } = address;
  return typeof country === 'string' ? { ...address, country: toAlpha2(country) } : address;
}

/** Random, so that no string in a body can be mistaken for a marked number. */
const MARK = `@number:${randomBytes(16).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');
/** Matches strings first, so that digits inside a string don't match as a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A number as its JSON text: a float can't hold 90071992547409.91, and decimal amounts must be exact. */
export class WireNumber {
  constructor(readonly text: string) {}

  toJSON(): string {
    return MARK + this.text;
  }
}

/** Serializes JSON, with every `WireNumber` as a number with its own digits. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(MARK) ? text.replace(MARKED, '$1') : text;
}

/** Like `JSON.parse`, but numbers under the named keys keep their digits. Throws for invalid JSON. */
export function parseWithNumbers(text: string, keys: readonly string[]): unknown {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));
  return JSON.parse(marked, (key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    const number = value.slice(MARK.length);
    return keys.includes(key) ? new WireNumber(number) : Number(number);
  });
}

/** ISO 3166-1: alpha-2 followed by alpha-3, one country after the other. */
const CODES =
  'ADAND AEARE AFAFG AGATG AIAIA ALALB AMARM AOAGO AQATA ARARG ASASM ATAUT AUAUS AWABW AXALA AZAZE BABIH BBBRB BDBGD ' +
  'BEBEL BFBFA BGBGR BHBHR BIBDI BJBEN BLBLM BMBMU BNBRN BOBOL BQBES BRBRA BSBHS BTBTN BVBVT BWBWA BYBLR BZBLZ CACAN ' +
  'CCCCK CDCOD CFCAF CGCOG CHCHE CICIV CKCOK CLCHL CMCMR CNCHN COCOL CRCRI CUCUB CVCPV CWCUW CXCXR CYCYP CZCZE DEDEU ' +
  'DJDJI DKDNK DMDMA DODOM DZDZA ECECU EEEST EGEGY EHESH ERERI ESESP ETETH FIFIN FJFJI FKFLK FMFSM FOFRO FRFRA GAGAB ' +
  'GBGBR GDGRD GEGEO GFGUF GGGGY GHGHA GIGIB GLGRL GMGMB GNGIN GPGLP GQGNQ GRGRC GSSGS GTGTM GUGUM GWGNB GYGUY HKHKG ' +
  'HMHMD HNHND HRHRV HTHTI HUHUN IDIDN IEIRL ILISR IMIMN ININD IOIOT IQIRQ IRIRN ISISL ITITA JEJEY JMJAM JOJOR JPJPN ' +
  'KEKEN KGKGZ KHKHM KIKIR KMCOM KNKNA KPPRK KRKOR KWKWT KYCYM KZKAZ LALAO LBLBN LCLCA LILIE LKLKA LRLBR LSLSO LTLTU ' +
  'LULUX LVLVA LYLBY MAMAR MCMCO MDMDA MEMNE MFMAF MGMDG MHMHL MKMKD MLMLI MMMMR MNMNG MOMAC MPMNP MQMTQ MRMRT MSMSR ' +
  'MTMLT MUMUS MVMDV MWMWI MXMEX MYMYS MZMOZ NANAM NCNCL NENER NFNFK NGNGA NINIC NLNLD NONOR NPNPL NRNRU NUNIU NZNZL ' +
  'OMOMN PAPAN PEPER PFPYF PGPNG PHPHL PKPAK PLPOL PMSPM PNPCN PRPRI PSPSE PTPRT PWPLW PYPRY QAQAT REREU ROROU RSSRB ' +
  'RURUS RWRWA SASAU SBSLB SCSYC SDSDN SESWE SGSGP SHSHN SISVN SJSJM SKSVK SLSLE SMSMR SNSEN SOSOM SRSUR SSSSD STSTP ' +
  'SVSLV SXSXM SYSYR SZSWZ TCTCA TDTCD TFATF TGTGO THTHA TJTJK TKTKL TLTLS TMTKM TNTUN TOTON TRTUR TTTTO TVTUV TWTWN ' +
  'TZTZA UAUKR UGUGA UMUMI USUSA UYURY UZUZB VAVAT VCVCT VEVEN VGVGB VIVIR VNVNM VUVUT WFWLF WSWSM YEYEM YTMYT ZAZAF ' +
  'ZMZMB ZWZWE';

const PAIRS = CODES.split(' ').map((pair) => [pair.slice(0, 2), pair.slice(2)] as const);
const ALPHA_3 = new Map<string, string>(PAIRS);
const ALPHA_2 = new Map<string, string>(PAIRS.map(([two, three]) => [three, two]));

/** Whether `code` is a country code of that length (2: alpha-2, 3: alpha-3). */
function isCountry(code: string, length: 2 | 3): boolean {
  return (length === 2 ? ALPHA_3 : ALPHA_2).has(code);
}

function toAlpha3(code: string): string {
  return ALPHA_3.get(code) ?? code;
}

export function toAlpha2(code: string): string {
  return ALPHA_2.get(code) ?? code;
}
