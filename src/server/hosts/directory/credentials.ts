// The credentials of the app with which this server reads the organization's directory: at most one set.

import { isMask, MASK } from "../../../api/fields.ts";
import type { DirectoryCredentials, DirectoryCredentialsInput } from "../../../api/hosts/directory.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { type FieldError, hasChanged, invalid, invalidFields, upstreamFailed } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { type Credentials, DirectoryClient } from "./client.ts";
import { DirectoryError } from "./problems.ts";
import type { directoryCredentials } from "./tables.ts";

export type CredentialsRow = RowOf<typeof directoryCredentials>;

const ROW_NAME = "directory";
const FIELD = "directory_graph_credentials";
const ENTRY = `${FIELD}.0`;
/** The lock of changes. */
export const DIRECTORY_CREDENTIALS_LOCK = "directory-credentials";
const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const credentialsRow = (store: Pick<ServerTx, "directoryCredentials">): Promise<CredentialsRow | null> =>
  store.directoryCredentials.first({ where: eq("name", ROW_NAME) });

/** Whether the row still has these credentials: they may have been replaced while the directory was asked. */
export const isSame = (row: CredentialsRow | null, other: Credentials | null): boolean =>
  row?.tenant_id === other?.tenant_id &&
  row?.client_id === other?.client_id &&
  row?.client_secret === other?.client_secret;

interface View {
  readonly directory_graph_credentials: DirectoryCredentials[];
}

export async function getCredentials({ store }: Pick<Context, "store">): Promise<View> {
  const row = await credentialsRow(store);
  if (row === null) return { [FIELD]: [] };
  const { tenant_id, client_id, credential_invalid, last_synced_at, last_sync_error } = row;
  const state = { credential_invalid, last_synced_at, last_sync_error };
  return { [FIELD]: [{ tenant_id, client_id, client_secret: MASK, ...state }] };
}

export async function setCredentials(ctx: Context, inputs: readonly DirectoryCredentialsInput[]): Promise<View> {
  if (inputs.length > 1) throw invalid(FIELD, "must contain at most one entry");
  const before = await credentialsRow(ctx.store);
  const credentials = inputs[0] === undefined ? null : credentialsFrom(inputs[0], before, ENTRY);
  if (credentials !== null) await checkWithDirectory(ctx, credentials, ENTRY);
  await ctx.store.tx((store) => keepCredentials(within(ctx, store), before, credentials), {
    lock: DIRECTORY_CREDENTIALS_LOCK,
  });
  return getCredentials(ctx);
}

/** What is stored, once the directory has accepted it. `at` is the place of the input, for messages. */
export function credentialsFrom(
  input: DirectoryCredentialsInput,
  before: CredentialsRow | null,
  at: string,
): Credentials {
  const tenant_id = input.tenant_id.trim().toLowerCase();
  const client_id = input.client_id.trim().toLowerCase();
  const errors: FieldError[] = Object.entries({ tenant_id, client_id })
    .filter(([, value]) => !GUID.test(value))
    .map(([name]) => ({ name: `${at}.${name}`, reason: "must be a GUID, as the directory shows it" }));
  const secret = input.client_secret ?? "";
  const isKept = secret === "" || isMask(secret);
  // The stored secret must not be sent for another app, or to another tenant.
  const storedSecret = before?.tenant_id === tenant_id && before.client_id === client_id ? before.client_secret : null;
  if (isKept && storedSecret === null)
    errors.push({ name: `${at}.client_secret`, reason: "is required for a new tenant_id or client_id" });
  if (errors.length > 0) throw invalidFields(errors);
  return { tenant_id, client_id, client_secret: isKept ? storedSecret! : secret };
}

export async function checkWithDirectory(ctx: Context, credentials: Credentials, at: string): Promise<void> {
  try {
    await new DirectoryClient(ctx, credentials).check();
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error;
    if (error.problem === "credentials") throw invalid(`${at}.client_secret`, error.message);
    throw upstreamFailed(error.message);
  }
}

/**
 * In a transaction with the lock `DIRECTORY_CREDENTIALS_LOCK`. Refused if the credentials are others than before the
 * check.
 */
export async function keepCredentials(
  inside: Context,
  before: CredentialsRow | null,
  credentials: Credentials | null,
): Promise<void> {
  const { store } = inside;
  const row = await credentialsRow(store);
  if (!isSame(row, before)) throw hasChanged("the credentials were changed by somebody else; try again");
  if (row === null && credentials === null) return;
  if (credentials === null) {
    await store.directoryCredentials.delete(everything);
    await recordActivity(inside, "deleted_directory_graph_credentials", { tenant_id: row!.tenant_id });
    return;
  }
  if (isSame(row, credentials)) {
    // The directory has just accepted them.
    if (row!.credential_invalid)
      await store.directoryCredentials.update({ where: eq("id", row!.id), set: { credential_invalid: false } });
    return;
  }
  const now = inside.clock.iso();
  // What the last synchronization of another directory has found does not concern this one.
  const isOther = row?.tenant_id !== credentials.tenant_id;
  const state = { credential_invalid: false, ...(isOther ? { last_synced_at: null } : {}), last_sync_error: "" };
  const columns = { ...credentials, ...state, updated_at: now };
  if (row === null) await store.directoryCredentials.insert({ name: ROW_NAME, created_at: now, ...columns });
  else await store.directoryCredentials.update({ where: eq("id", row.id), set: columns });
  const type = row === null ? "added_directory_graph_credentials" : "edited_directory_graph_credentials";
  await recordActivity(inside, type, { tenant_id: credentials.tenant_id });
}
