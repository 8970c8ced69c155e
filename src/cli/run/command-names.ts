import type { Config } from "@oclif/core/config";
import { commandsCalling } from "../help/endpoint-commands.ts";

/** What follows are patterns of endpoints, which a user has given to an API token. */
const LIMITS = "it is limited to ";

const endpoints = /\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/:-]*\w)/g;

/**
 * A message of the server, in which endpoints such as `POST /hosts/:id/wipe` are replaced by commands that call them:
 * `svc hosts wipe`. Endpoints without a command stay. `whole` loads the configuration with all commands.
 */
export async function withCommandNames(text: string, whole: () => Promise<Config>): Promise<string> {
  if (text.search(endpoints) === -1) return text;
  const { allEndpoints } = await import("../../api/all.ts");
  const config = await whole();
  const [about, ...limits] = text.split(LIMITS) as [string, ...string[]];
  const named = about.replace(endpoints, (given, method: string, path: string) => {
    const found = allEndpoints.find(({ endpoint }) => endpoint.method === method && endpoint.path === path);
    const command = found && commandsCalling(config, found.name, found.endpoint)[0];
    return command === undefined ? given : `\`${command}\``;
  });
  return [named, ...limits].join(LIMITS);
}
