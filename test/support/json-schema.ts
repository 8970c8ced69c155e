// The part of JSON Schema (draft-07) that the schema of configuration files uses; any other keyword is an error here.
type Node = { readonly [key: string]: unknown };

const ignored = new Set(["$schema", "title", "description", "deprecated", "default", "definitions", "then", "else"]);
const isRecord = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const typeOf = (value: unknown): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
const isOf = (type: string, value: unknown): boolean =>
  type === "integer" ? Number.isInteger(value) : typeOf(value) === type;

/** Errors by position; empty if the value is valid. */
export function problemsBy(root: Node, value: unknown): string[] {
  return visit(root, value, "$");

  function visit(node: unknown, given: unknown, at: string): string[] {
    if (node === true) return [];
    if (node === false) return [`${at}: nothing may stand here`];
    return Object.entries(node as Node)
      .filter(([keyword]) => !ignored.has(keyword))
      .flatMap(([keyword, rule]) => keep(keyword, rule, given, at, node as Node));
  }

  function keep(keyword: string, rule: unknown, given: unknown, at: string, node: Node): string[] {
    const fits = (one: unknown) => visit(one, given, at).length === 0;
    const unless = (isRight: boolean) => (isRight ? [] : [`${at}: ${keyword} ${JSON.stringify(rule)}`]);
    const text = typeof given === "string" ? given : null;
    const number = typeof given === "number" ? given : null;
    switch (keyword) {
      case "$ref":
        return visit((root.definitions as Node)[(rule as string).slice("#/definitions/".length)], given, at);
      case "type":
        return unless([rule].flat().some((type) => isOf(type as string, given)));
      case "enum":
        return unless((rule as unknown[]).includes(given));
      case "const":
        return unless(rule === given);
      case "minLength":
        return unless(text === null || text.length >= (rule as number));
      case "maxLength":
        return unless(text === null || text.length <= (rule as number));
      case "pattern":
        return unless(text === null || new RegExp(rule as string, "u").test(text));
      case "minimum":
        return unless(number === null || number >= (rule as number));
      case "maximum":
        return unless(number === null || number <= (rule as number));
      case "exclusiveMinimum":
        return unless(number === null || number > (rule as number));
      case "maxItems":
        return unless(!Array.isArray(given) || given.length <= (rule as number));
      case "items":
        return Array.isArray(given) ? given.flatMap((one, i) => visit(rule, one, `${at}.${i}`)) : [];
      case "required":
        return isRecord(given) ? unless((rule as string[]).every((key) => Object.hasOwn(given, key))) : [];
      case "properties":
        return isRecord(given)
          ? Object.entries(given).flatMap(([key, one]) =>
              Object.hasOwn(rule as Node, key) ? visit((rule as Node)[key], one, `${at}.${key}`) : [],
            )
          : [];
      case "additionalProperties": {
        if (!isRecord(given)) return [];
        const known = (node.properties as Node | undefined) ?? {};
        const others = Object.entries(given).filter(([key]) => !Object.hasOwn(known, key));
        return others.flatMap(([key, one]) => visit(rule, one, `${at}.${key}`));
      }
      case "propertyNames":
        return isRecord(given) ? Object.keys(given).flatMap((key) => visit(rule, key, `${at}.${key}`)) : [];
      case "anyOf":
        return unless((rule as unknown[]).some(fits));
      case "allOf":
        return (rule as unknown[]).flatMap((one) => visit(one, given, at));
      case "not":
        return unless(!fits(rule));
      case "if":
        return visit(fits(rule) ? (node.then ?? true) : (node.else ?? true), given, at);
      default:
        throw new Error(`unknown keyword ${keyword} at ${at}`);
    }
  }
}
