// What the commands of a host's own page share: the token in the place of a sign-in.
import type { Interfaces } from "@oclif/core";
import { ApiCallError } from "../client/errors.ts";
import { ClientCommand } from "./client-command.ts";
import { denied, usage } from "./errors.ts";
import { args } from "./flags.ts";
import { readSecret, secretFlags } from "./input.ts";

export const deviceArgs = { token: args.optional("token of the host's page; better from stdin") };
export const deviceFlags = secretFlags("token", "the token");

export abstract class DeviceCommand extends ClientCommand {
  protected async deviceToken(given: string | undefined, flags: Readonly<Record<string, unknown>>): Promise<string> {
    const token = (await readSecret(this.io, flags, "token"))?.trim();
    if (token !== undefined && given !== undefined)
      throw usage("give the token once: as an argument, or by --token-stdin or --token-file");
    const found = token ?? given;
    if (found === undefined || found === "")
      throw usage("missing TOKEN", "Give it as an argument, or by --token-stdin or --token-file.");
    return found;
  }

  /** Signing in would not help: the host's agent makes the token. */
  protected override async catch(error: Interfaces.CommandError): Promise<void> {
    if (error instanceof ApiCallError && error.status === 401)
      throw denied(
        "the token is not that of a host, or its time is over",
        "The host's agent makes a new one each hour.",
      );
    return super.catch(error);
  }
}
