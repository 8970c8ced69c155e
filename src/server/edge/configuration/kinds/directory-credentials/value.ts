import { z } from "zod";
import { DirectoryCredentialsInput } from "../../../../../api/hosts/directory.ts";
import { isRecord } from "../../../../../text/record.ts";
import type { CredentialsRow } from "../../../../hosts/directory/credentials.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import { KEPT, Secret, secretFrom, type Texts, type Thing } from "../../values.ts";

/** The name of the only set of credentials. */
const NAME = "directory";

const { tenant_id, client_id } = DirectoryCredentialsInput.shape;
const Value = z.strictObject({ tenant_id, client_id, client_secret: z.string().max(1024) });
export type DesiredCredentials = z.output<typeof Value>;

export function credentialsThings(row: CredentialsRow | null): Thing[] {
  if (row === null) return [];
  const { tenant_id, client_id, client_secret } = row;
  const value = { tenant_id, client_id, client_secret: new Secret(client_secret) };
  return [{ kind: "directory_credentials", owner: null, name: NAME, value }];
}

export function checkName({ name }: Pick<RequestedChange, "name">): void {
  if (name !== NAME) throw invalid("change.name", `must be ${NAME}: there is one set of credentials at most`);
}

/** An empty secret is the one that is stored. */
export function readCredentials(change: RequestedChange, texts: Texts): DesiredCredentials {
  checkName(change);
  const { value } = change;
  if (!isRecord(value)) throw invalid("value", "must be an object");
  const secret = secretFrom(value.client_secret ?? "", texts, "client_secret");
  return parsed(Value, { ...value, client_secret: secret === KEPT ? "" : secret });
}
