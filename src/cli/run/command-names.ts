import type { Config } from "@oclif/core/config";
import { ApiCallError } from "../../client/errors.ts";
import { commandsCalling } from "../help/endpoint-commands.ts";

const ENDPOINT = "\\b(GET|POST|PUT|PATCH|DELETE) (/[\\w/:-]*\\w)";

/**
 * A message of the server, in which endpoints such as `POST /hosts/:id/wipe` are replaced by commands that call them:
 * `svc hosts wipe`. Endpoints without a command stay, and patterns that a user has given to an API token. `whole` loads
 * the configuration with all commands.
 */
export async function withCommandNames(text: string, error: unknown, whole: () => Promise<Config>): Promise<string> {
  if (text.search(ENDPOINT) === -1) return text;
  const { allEndpoints } = await import("../../api/all.ts");
  const config = await whole();
  return text.replace(endpointPattern(error), (match, method: string | undefined, path: string) => {
    const target = allEndpoints.find(({ endpoint }) => endpoint.method === method && endpoint.path === path);
    const command = target && commandsCalling(config, target.name, target.endpoint)[0];
    return command === undefined ? match : `\`${command}\``;
  });
}

/** Matches endpoints, and whole patterns of the token without a group. */
function endpointPattern(error: unknown): RegExp {
  const patterns = error instanceof ApiCallError ? [...error.allowedEndpoints] : [];
  const escaped = patterns
    .sort((a, b) => b.length - a.length)
    .map((pattern) => `${pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?![\\w/:*-])`);
  return new RegExp([...escaped, ENDPOINT].join("|"), "g");
}
