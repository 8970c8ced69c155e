// What a template of host names may contain. Whether its custom variables exist is checked where it is stored.
import { hostVariables } from "../../variables/of-hosts.ts";

const REFERENCE = /\$(?:\{SVC_([A-Za-z0-9_]+)\}|SVC_([A-Za-z0-9_]+))/g;
const allowed: ReadonlySet<string> = new Set(hostVariables.map((name) => `VAR_${name}`));

/** The reason why a template is refused; null if it is not. */
export function templateProblem(template: string): string | null {
  if (/\p{Cc}/u.test(template)) return "must be one line without control characters";
  if (template !== "" && template.trim() === "") return "must not be blank: empty turns the template off";
  const unknown = Array.from(template.matchAll(REFERENCE), ([whole, braced, bare]) => ({ whole, name: braced ?? bare }))
    .filter(({ name }) => !name!.startsWith("SECRET_") && !allowed.has(name!))
    .map(({ whole }) => whole);
  if (unknown.length === 0) return null;
  const usable = [...hostVariables.map((name) => `$SVC_VAR_${name}`), "$SVC_SECRET_NAME"].join(", ");
  return `${[...new Set(unknown)].join(", ")} cannot be used in names of hosts; these can: ${usable}`;
}
