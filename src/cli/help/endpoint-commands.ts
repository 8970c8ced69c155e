// Finds the commands that call an endpoint.
import type { Config } from "@oclif/core/config";
import type { AnyEndpoint } from "../../api/endpoint.ts";

/** The endpoints of a command: names in the manifest, objects when run from the sources. */
const endpointsOf = (command: object): readonly (string | AnyEndpoint)[] =>
  "endpoints" in command && Array.isArray(command.endpoints) ? command.endpoints : [];

/** The command lines of the commands that call the endpoint with this name: those first that call few others. */
export const commandsCalling = (config: Config, name: string, endpoint: AnyEndpoint): string[] =>
  config.commands
    .filter((command) => endpointsOf(command).some((called) => called === name || called === endpoint))
    .sort((a, b) => endpointsOf(a).length - endpointsOf(b).length)
    .map(({ id }) => `${config.bin} ${id.replaceAll(":", " ")}`);
