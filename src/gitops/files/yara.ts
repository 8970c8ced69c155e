// YARA rules of the global file: their texts, inline or from files of their own. No variables are replaced in those
// files: `$name` is a string of the rule.
import { basename } from "node:path";
import { filesNamed, readSource, type Sources } from "./include.ts";
import type { Place } from "./problems.ts";
import type { Section } from "./scope.ts";
import { type Mapping, textIn } from "./tree.ts";

export interface YaraText {
  readonly name: string;
  readonly contents: string;
}

const EXTENSIONS = { matched: [".yar", ".yara"], named: null };

/** The rules of `org_settings.yara_rules`. What is not a list of objects is reported when the section is checked. */
export async function readYaraRules({ tree, file }: Section, sources: Sources): Promise<YaraText[]> {
  const list = tree?.kind === "map" ? tree.entries.get("yara_rules")?.value : undefined;
  if (list?.kind !== "list") return [];
  const { problems } = sources;
  const seen = new Map<string, Place>();
  const rules: YaraText[] = [];
  for (const item of list.items) {
    if (item.kind !== "map") continue;
    for (const { at, ...rule } of await rulesOf(item, file, sources)) {
      const before = seen.get(rule.name.toLowerCase());
      if (before)
        problems.error(at, `the YARA rule ${JSON.stringify(rule.name)} is in ${before.file}:${before.line} already`);
      else rules.push(rule);
      seen.set(rule.name.toLowerCase(), before ?? at);
    }
  }
  return rules;
}

async function rulesOf(item: Mapping, file: string, sources: Sources): Promise<(YaraText & { at: Place })[]> {
  const { problems } = sources;
  if (!item.entries.has("path") && !item.entries.has("paths")) {
    const [name, contents] = [textIn(item.entries.get("name")?.value), textIn(item.entries.get("contents")?.value)];
    if (name !== null && contents !== null) return [{ name, contents, at: item.at }];
    problems.error(item.at, "a YARA rule needs path, paths, or name and contents");
    return [];
  }
  for (const key of ["name", "contents"])
    if (item.entries.has(key))
      problems.error(item.entries.get(key)!.key, `${key} cannot be used with path: the file has its own`);
  const rules: (YaraText & { at: Place })[] = [];
  for (const { path, named } of await filesNamed(item, file, EXTENSIONS, sources)) {
    const contents = await readSource(path, named, sources);
    if (contents !== null) rules.push({ name: basename(path), contents, at: named });
  }
  return rules;
}
