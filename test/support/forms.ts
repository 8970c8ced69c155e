// Requests to endpoints that take multipart forms.
import { allEndpoints } from "../../src/api/all.ts";
import { servedPaths } from "../../src/api/paths.ts";

const forms = allEndpoints
  .filter(({ endpoint }) => endpoint.takes.kind === "multipart")
  .map(({ endpoint }) => ({
    method: endpoint.method,
    paths: servedPaths(endpoint).map((path) => new RegExp(`^${path.replaceAll(/:[a-z_]+/g, "[^/]+")}$`)),
  }));

/** Whether the API has a form at this path, which is complete and may have a query. */
export const takesForm = (method: string, path: string): boolean =>
  forms.some((one) => one.method === method && one.paths.some((pattern) => pattern.test(path.split("?")[0]!)));

/** A form with the fields; files are given as `File`, and lists as several parts. */
export function formOf(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one instanceof Blob) form.append(name, one);
      else if (one !== undefined && one !== null)
        form.append(name, typeof one === "object" ? JSON.stringify(one) : String(one));
    }
  return form;
}
