// Settings of the server process, which the API cannot change: how the operator sets them.
import type { Config } from "@oclif/core";
import { type CliError, notFound } from "../../errors.ts";
import { wholeConfig } from "../../run/config.ts";

/** The error for a path that names a setting of `svc serve`; null for any other path. */
export async function operatorSetting(path: string, config: Config): Promise<CliError | null> {
  const name = path.replaceAll("-", "_");
  const flag = name.replaceAll("_", "-");
  // Every setting except the secrets is a flag of `svc serve`.
  const isFlag = Object.hasOwn((await wholeConfig(config)).findCommand("serve")?.flags ?? {}, flag);
  const isSecret = ["admin_password", "license_key", "server_private_key"].includes(name);
  if ((!isFlag && !isSecret) || ["config", "quickstart"].includes(flag)) return null;
  const ways = [...(isFlag ? [`--${flag}`] : []), `SVC_${name.toUpperCase()} in its environment`];
  return notFound(
    `${name} is a setting of the server process: the API cannot show or change it`,
    `The operator sets it when starting \`svc serve\`: ${ways.join(", ")}, or ${name} in its --config file. See docs/settings.md.`,
  );
}
