// What is put into a profile only when the device gets it: custom variables, and what belongs to one certificate.
import type { ServerTx } from "../../core/tables.ts";
import { secretOf } from "../../variables/text.ts";
import { valuesOnHosts } from "../../variables/use.ts";
import { authorityOf, proxyValues } from "./scep.ts";
import { isLate, namesIn, replaceNames } from "./variables.ts";

/** The content of the command with these values. Variables without one stay: the profile was changed meanwhile. */
export async function fillLate(
  store: ServerTx,
  command: { readonly host_id: number; readonly uuid: string },
  content: string,
  escaped: (value: string) => string,
): Promise<string> {
  const names = namesIn(content).filter(isLate);
  if (names.length === 0) return content;
  const secrets = names.filter((name) => secretOf(name) !== null);
  const proxies = names.filter((name) => authorityOf(name) !== null);
  const values = new Map([
    ...((await valuesOnHosts(store, secrets, [command.host_id])).get(command.host_id) ?? []),
    ...(await proxyValues(store, proxies, command)),
  ]);
  return replaceNames(content, (name, whole) => {
    const value = values.get(name);
    return value === undefined ? whole : escaped(value);
  });
}
