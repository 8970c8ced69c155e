import { type ScimPatch, type ScimUser, ScimUserInput, scimUrns } from "../../../api/hosts/scim.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { bodyErrors } from "../../platform/core/http/route.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { notUnique, scimError } from "./errors.ts";
import { type Condition, parseFilter } from "./filter.ts";
import { hostsOfPeople, relink } from "./links.ts";
import { patched } from "./patch.ts";
import { type StoredEmail, scimLogins, type scimUsers } from "./tables.ts";
import { type ListQuery, rowsOf, type UserRow, userIdOf, userViews } from "./wire.ts";

/** Changes run one after the other, so that hosts are compared with all people. */
export const SCIM_LOCK_OPTIONS = { lock: "scim" } as const;

export async function listUsers(ctx: Context, query: ListQuery) {
  const { rows, head } = await rowsOf(ctx.store.scimUsers, query, filterOf(query.filter));
  return { ...head, Resources: await userViews(ctx, rows) };
}

const login = (kind: "user_name" | "email", value: string, type?: string): Predicate =>
  exists(
    scimLogins,
    "user_id",
    and(eq("login", value.toLowerCase()), eq("kind", kind), ...(type === undefined ? [] : [eq("type", type)])),
  );

const conditions: Readonly<Record<string, (condition: Condition) => Predicate>> = {
  username: ({ value }) => eq("user_name_key", value.toLowerCase()),
  externalid: ({ value }) => eq("external_id", value),
  id: ({ value }) => eq("id", userIdOf(value) ?? 0),
  "emails.value": ({ value, of = [] }) => {
    const other = of.find(({ attribute }) => attribute !== "type");
    if (other) throw scimError("invalidFilter", `emails cannot be filtered by ${other.attribute}`);
    return login("email", value, of[0]?.value);
  },
  emails: ({ value }) => login("email", value),
  active: ({ value }) => {
    if (!/^(true|false)$/i.test(value)) throw scimError("invalidFilter", "active is true or false");
    return eq("active", value.toLowerCase() === "true");
  },
  // Managers are not kept. Entra ID asks whether a person has this one before it sends it.
  manager: () => oneOf("id", []),
  [`${scimUrns.enterprise}:manager`.toLowerCase()]: () => oneOf("id", []),
};

function filterOf(text: string | undefined): Predicate {
  if (text === undefined || text.trim() === "") return and();
  return and(
    ...parseFilter(text).map((parsed) => {
      const condition = Object.hasOwn(conditions, parsed.attribute) ? conditions[parsed.attribute] : undefined;
      if (!condition) throw scimError("invalidFilter", `people cannot be filtered by ${parsed.attribute}`);
      return condition(parsed);
    }),
  );
}

async function rowOf(store: Pick<ServerTx, "scimUsers">, id: string): Promise<UserRow> {
  const number = userIdOf(id);
  const row = number === null ? null : await store.scimUsers.get(number);
  if (!row) throw notFound("user", id);
  return row;
}

export async function getUser(ctx: Context, id: string): Promise<ScimUser> {
  const [view] = await userViews(ctx, [await rowOf(ctx.store, id)]);
  return view!;
}

export type Columns = Omit<InsertOf<typeof scimUsers>, "id" | "created_at" | "updated_at" | "directory_id">;

function columnsOf(input: ScimUserInput): Columns {
  const { name = {}, userName } = input;
  const primary = (input.emails ?? []).findIndex(({ primary: is }) => is === true);
  const emails = (input.emails ?? []).map(
    ({ value, type }, at): StoredEmail => ({
      value: value.trim(),
      ...(type === undefined ? {} : { type }),
      // Only one address is the primary one.
      ...(at === primary ? { primary: true } : {}),
    }),
  );
  return {
    external_id: input.externalId ?? null,
    user_name: userName,
    user_name_key: userName.toLowerCase(),
    formatted_name: name.formatted ?? "",
    given_name: name.givenName ?? "",
    family_name: name.familyName ?? "",
    display_name: input.displayName ?? "",
    department: (input[scimUrns.enterprise]?.department ?? "").trim(),
    active: input.active ?? true,
    emails,
  };
}

const loginsOf = ({ user_name_key, emails }: Pick<Columns, "user_name_key" | "emails">) => [
  { login: user_name_key, kind: "user_name" as const, type: "" },
  ...emails.map(({ value, type = "" }) => ({ login: value.toLowerCase(), kind: "email" as const, type })),
];

async function checkUnique(store: ServerTx, { user_name, user_name_key }: Columns, userId = 0): Promise<void> {
  const other = await store.scimUsers.first({ where: eq("user_name_key", user_name_key) });
  if (other && other.id !== userId) throw notUnique(`a user with the userName ${JSON.stringify(user_name)} exists`);
}

const about = ({ id, user_name }: Pick<UserRow, "id" | "user_name">) => ({ scim_user_id: id, user_name });

export async function createUser(ctx: Context, input: ScimUserInput): Promise<ScimUser> {
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const columns = columnsOf(input);
    await checkUnique(store, columns);
    const now = ctx.clock.iso();
    const row = await store.scimUsers.insert({ ...columns, created_at: now, updated_at: now });
    await keepLogins(store, [row]);
    await recordActivity(inside, "created_scim_user", about(row));
    const [view] = await userViews(inside, [row]);
    return view!;
  }, SCIM_LOCK_OPTIONS);
}

/** Writes how the people are recognized, and on which hosts. */
export async function keepLogins(
  store: ServerTx,
  rows: readonly Pick<UserRow, "id" | "user_name_key" | "emails">[],
): Promise<void> {
  const userIds = rows.map(({ id }) => id);
  const logins = rows.flatMap((row) => loginsOf(row).map((entry) => ({ ...entry, user_id: row.id })));
  await store.scimLogins.delete(oneOf("user_id", userIds));
  await store.scimLogins.insertMany(logins);
  const hosts = await hostsOfPeople(
    store,
    userIds,
    logins.map((entry) => entry.login),
  );
  await relink(store, hosts);
}

export const replaceUser = (ctx: Context, id: string, input: ScimUserInput): Promise<ScimUser> =>
  change(ctx, id, () => input);

export const patchUser = (ctx: Context, id: string, { Operations }: ScimPatch): Promise<ScimUser> =>
  change(ctx, id, async (before, inside) => {
    const [view] = await userViews(inside, [before]);
    const result = ScimUserInput.safeParse(patched(view!, Operations), { reportInput: true });
    if (result.success) return result.data;
    const [error] = bodyErrors(result.error);
    throw scimError("invalidValue", `${error!.name}: ${error!.reason}`);
  });

export const isChanged = (before: UserRow, columns: Columns): boolean =>
  (Object.keys(columns) as (keyof Columns)[]).some(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(columns[key]),
  );

async function change(
  ctx: Context,
  id: string,
  after: (before: UserRow, inside: Context) => ScimUserInput | Promise<ScimUserInput>,
): Promise<ScimUser> {
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const before = await rowOf(store, id);
    const columns = columnsOf(await after(before, inside));
    await checkUnique(store, columns, before.id);
    // From now on this person is the identity provider's.
    if (before.directory_id !== null)
      await store.scimUsers.update({ where: eq("id", before.id), set: { directory_id: null } });
    if (isChanged(before, columns)) {
      const set = { ...columns, updated_at: ctx.clock.iso() };
      await store.scimUsers.update({ where: eq("id", before.id), set });
      await keepLogins(store, [{ ...before, ...columns }]);
      await recordActivity(inside, "edited_scim_user", about({ ...before, ...columns }));
    }
    const [view] = await userViews(inside, [await rowOf(store, id)]);
    return view!;
  }, SCIM_LOCK_OPTIONS);
}

export async function deleteUser(ctx: Context, id: string): Promise<Record<string, never>> {
  return ctx.store.tx(async (store) => {
    const row = await rowOf(store, id);
    const hosts = await hostsOfPeople(store, [row.id]);
    await store.scimUsers.delete(eq("id", row.id));
    // Another person may have the same address.
    await relink(store, hosts);
    await recordActivity(within(ctx, store), "deleted_scim_user", about(row));
    return {};
  }, SCIM_LOCK_OPTIONS);
}
