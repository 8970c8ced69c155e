// What the commands of a host's own page share: the token in the place of a sign-in.
import { ClientCommand } from "./client-command.ts";
import { usage } from "./errors.ts";
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
}
