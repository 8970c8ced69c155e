// The sizes of what agents and devices send as JSON, read from the schemas of their messages.
import type { z } from "zod";
import { protocols } from "../../../api/all.ts";
import type { AnyEndpoint } from "../../../api/endpoint.ts";
import { type Limit, limit } from "../../platform/core/limits.ts";

/** May be of any length, within the size of a message: of those, a part is kept. */
const CUT: ReadonlySet<string> = new Set([
  "output",
  "pre_install_condition_output",
  "install_script_output",
  "post_install_script_output",
  "error_message",
]);

interface Part {
  /** Place of the text in the body: "agent_machine.run". */
  readonly name: string;
  /** Characters. Null: the schema has no limit. */
  readonly max: number | null;
  /** Whether a longer text counts as not sent; otherwise the message is refused. */
  readonly isIgnored: boolean;
}

interface TextField extends Part {
  readonly endpoint: AnyEndpoint;
}

/** Every text in the JSON bodies of agents and devices, except those of which a part is kept. */
export const textFields: readonly TextField[] = Object.values(protocols)
  .flatMap((group) => Object.values(group) as AnyEndpoint[])
  .flatMap((endpoint) =>
    endpoint.takes.kind === "json" ? textsIn(endpoint.body).map((part) => ({ endpoint, ...part })) : [],
  )
  .filter(({ name }) => !CUT.has(name));

interface Definition {
  readonly type: string;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
}

/** The texts that a message with this schema may have. */
export function textsIn(schema: z.ZodType, name = "", isIgnored = false): Part[] {
  const { type, innerType, in: input, out, element, options } = schema.def as unknown as Definition;
  if (innerType) return textsIn(innerType, name, isIgnored || type === "catch");
  if (type === "pipe")
    return textsIn((out!.def as unknown as Definition).type === "transform" ? input! : out!, name, isIgnored);
  if (type === "string") return [{ name, max: (schema as z.ZodString).maxLength, isIgnored }];
  if (type === "array") return textsIn(element!, `${name}[]`, isIgnored);
  if (type === "union") return options!.flatMap((option) => textsIn(option, name, isIgnored));
  if (type !== "object") return [];
  const fields = Object.entries((schema as z.ZodObject).shape as Record<string, z.ZodType>);
  return fields.flatMap(([key, field]) => textsIn(field, name === "" ? key : `${name}.${key}`, isIgnored));
}

/** One for each name and size. */
export const fieldLimits: readonly Limit[] = [
  ...new Map(textFields.map((field) => [`${field.name} ${field.max}`, field])).values(),
]
  .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ endpoint, name, max, isIgnored }) =>
    limit({
      what: `\`${name}\`${endpoint.path.startsWith("/agent/") ? "" : ` of \`${endpoint.path}\``}`,
      max: max ?? Number.POSITIVE_INFINITY,
      unit: "characters",
      beyond: isIgnored ? "The text is ignored." : `The message is refused with ${endpoint.strict ? 400 : 422}.`,
    }),
  );
