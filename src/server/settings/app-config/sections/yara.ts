// YARA rules: hosts load them by name from the agent endpoint `yara/:name`.
import { YARA_RULES_BYTES_MAX, YaraRules } from "../../../../api/settings/app-config.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { may } from "../../../platform/core/security/access.ts";
import { section } from "../section.ts";

export const yaraRules = section<YaraRules>({
  name: "yara_rules",
  schema: YaraRules,
  defaults: [],
  complete: (rules) => rules.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
  check: problemsOf,
  visibleTo: (user) => may(user, "config:read_secrets", null),
});

/** Finds files that are no YARA rules at all; the agents' compiler finds everything else. */
const RULE = /\brule\s+[A-Za-z_]\w*/;

function problemsOf(rules: YaraRules): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  let bytes = 0;
  for (const [i, { name, contents }] of rules.entries()) {
    const refuse = (field: string, reason: string) =>
      errors.push({ name: `${i}.${field}`, reason: `${name}: ${reason}` });
    const alike = name.toLowerCase();
    if (names.has(alike)) refuse("name", "there is another rule of this name (names must differ by more than case)");
    names.add(alike);
    if (contents.startsWith("\uFEFF")) refuse("contents", "must not begin with a byte-order mark");
    else if (contents.includes("\0")) refuse("contents", "must be text, without null characters");
    else if (!RULE.test(contents)) refuse("contents", "contains no YARA rule (rule NAME { ... })");
    const before = bytes;
    bytes += Buffer.byteLength(contents);
    if (before <= YARA_RULES_BYTES_MAX && bytes > YARA_RULES_BYTES_MAX)
      refuse("contents", `with this rule there are more than ${YARA_RULES_BYTES_MAX} bytes of rules`);
  }
  return errors;
}
