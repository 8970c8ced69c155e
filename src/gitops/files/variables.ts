// Custom variables: those that the global file lists, and those that other files name, with their values.
import { SECRET_PREFIX } from "../../api/variables.ts";
import type { CustomVariable } from "../schema/variables.ts";
import type { Collected, Placed } from "./collect.ts";
import type { Sources } from "./include.ts";
import { type Place, startOf } from "./problems.ts";
import type { SecretTexts } from "./secrets.ts";

const KIND = "custom_variable";

/** The items with values from the environment. A variable that is listed, but has no value there, keeps its value. */
export function withVariables(
  items: Collected,
  { environment, variables, main }: Sources,
  secrets: SecretTexts,
): Collected {
  const listed = (items.get(KIND) ?? []) as readonly Placed<CustomVariable>[];
  for (const { value } of listed) {
    const text = environment.optionalValueOf(SECRET_PREFIX + value.name);
    if (text !== "") variables.set(value.name, text);
  }
  if (variables.size === 0 && listed.length === 0) return items;
  const names = new Set(listed.map(({ value }) => value.name));
  const at = startOf([...main][0] ?? "");
  const all = [
    ...listed.map((item) => ({ ...item, value: { ...item.value, isListed: true } })),
    ...[...variables.keys()].filter((name) => !names.has(name)).map((name) => usedOnly(name, at)),
  ];
  const whole = all.map((item) => {
    const text = variables.get(item.value.name);
    return { ...item, value: { ...item.value, value: text === undefined ? null : secrets.ofVariable(text) } };
  });
  return new Map([...items, [KIND, whole]]);
}

const usedOnly = (name: string, at: Place): Placed<CustomVariable> => ({
  value: { name, isListed: false },
  at,
  owner: null,
  file: "",
  place: () => at,
});
