// Contexts: the servers that the command line knows. One of them is the current context.
import { join } from "node:path";
import { nearest } from "../../text/nearest.ts";
import { ownOf } from "../../text/record.ts";
import { usage } from "../errors.ts";
import { configDir } from "../files/paths.ts";
import { openPrivate } from "../files/private-file.ts";
import type { Io } from "../io.ts";
import { dropToken, readToken, saveToken, type TokenPlace, tokenFile } from "./tokens.ts";

export interface Context {
  server_url: string;
  email: string | null;
  /** PEM certificates of the authorities to trust. */
  ca: string | null;
  insecure: boolean;
  /** Where the context's token is stored; null: not signed in. */
  token_in: TokenPlace | null;
}
interface ContextsFile {
  current: string | null;
  contexts: Record<string, Context>;
}
type ContextIo = Pick<Io, "env" | "keyring">;

export const contextsFile = (env: Io["env"]): string => join(configDir(env), "contexts.json");
const openFile = (env: Io["env"]) => openPrivate<ContextsFile>(contextsFile(env), { current: null, contexts: {} });

// The account includes the address, so that a token is never sent to another server under the same context name.
const account = (name: string, serverUrl: string) => `${name} ${serverUrl}`;

export async function listContexts(io: ContextIo): Promise<{ current: string | null; contexts: Map<string, Context> }> {
  const { data } = await openFile(io.env);
  return { current: data.current, contexts: new Map(Object.entries(data.contexts)) };
}

/** The named context, or the current one; null if there is no current context. */
export async function findContext(
  io: ContextIo,
  name: string | undefined,
): Promise<{ name: string; context: Context } | null> {
  const { current, contexts } = await listContexts(io);
  const contextName = name ?? current;
  if (contextName === null) return null;
  const context = contexts.get(contextName);
  if (context) return { name: contextName, context };
  if (name === undefined) return null;
  throw unknownContext(name, contexts.keys());
}

function unknownContext(name: string, contextNames: Iterable<string>): Error {
  const names = [...contextNames];
  const near = nearest(name, names);
  return usage(
    `there is no context ${name}${near ? `; did you mean ${near}?` : ""}`,
    names.length === 0 ? "Add one with `svc context add NAME --server-url URL`." : `Contexts: ${names.join(", ")}`,
  );
}

export interface SaveContext {
  readonly name: string;
  readonly serverUrl: string;
  /** If omitted, the token that is already stored for this name and address stays. */
  readonly token?: string;
  readonly email?: string | null;
  readonly ca?: string | null;
  readonly insecure?: boolean;
  readonly makeCurrent: boolean;
}
export interface SavedContext {
  readonly tokenIn: TokenPlace | null;
  /** Message for the user if the token was stored in a file: which file, and why. */
  readonly remark: string | null;
}

/** The name, unless a context of another server has it: then the name with the first number that none has. */
export async function nameForServer(io: ContextIo, name: string, serverUrl: string): Promise<string> {
  const { contexts } = await listContexts(io);
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    const existing = contexts.get(candidate);
    if (existing === undefined || existing.server_url === serverUrl) return candidate;
  }
}

/** Adds or replaces a context. Also called by `svc serve --quickstart`. */
export async function saveContext(input: SaveContext, io: ContextIo = { env: process.env }): Promise<SavedContext> {
  const { name, serverUrl, token } = input;
  if (!/^[\w.:@-]{1,100}$/.test(name) || name === "__proto__") {
    throw usage(
      `${name} is not a valid name of a context`,
      "Only letters, digits and . _ : @ - are allowed, at most 100 characters.",
    );
  }
  const saved = token === undefined ? null : await saveToken(io, account(name, serverUrl), token);
  const db = await openFile(io.env);
  const old = ownOf(db.data.contexts, name);
  const kept = old?.server_url === serverUrl ? old.token_in : null;
  const tokenIn = saved?.place ?? kept;
  await db.update((data) => {
    data.contexts[name] = {
      server_url: serverUrl,
      email: input.email ?? (tokenIn === null ? null : (old?.email ?? null)),
      ca: input.ca ?? null,
      insecure: input.insecure ?? false,
      token_in: tokenIn,
    };
    if (input.makeCurrent || data.current === null) data.current = name;
  });
  if (old && old.server_url !== serverUrl) await forget(io, name, old);
  const remark =
    saved?.why === undefined
      ? null
      : `no keyring can be used here (${saved.why}); the token was saved in ${tokenFile(io.env)}, readable only by you`;
  return { tokenIn, remark };
}

export async function useContext(io: ContextIo, name: string): Promise<void> {
  const db = await openFile(io.env);
  if (!Object.hasOwn(db.data.contexts, name)) throw unknownContext(name, Object.keys(db.data.contexts));
  await db.update((data) => {
    data.current = name;
  });
}

export async function removeContext(io: ContextIo, name: string): Promise<void> {
  const db = await openFile(io.env);
  const old = ownOf(db.data.contexts, name);
  if (!old) throw unknownContext(name, Object.keys(db.data.contexts));
  await db.update((data) => {
    delete data.contexts[name];
    if (data.current === name) data.current = null;
  });
  await forget(io, name, old);
}

/** Deletes a context's token on sign-out. */
export async function dropContextToken(io: ContextIo, name: string): Promise<void> {
  const db = await openFile(io.env);
  const context = ownOf(db.data.contexts, name);
  if (!context) return;
  await forget(io, name, context);
  await db.update((data) => {
    const kept = data.contexts[name];
    if (kept) kept.token_in = null;
  });
}

export async function contextToken(io: ContextIo, name: string, context: Context): Promise<string | null> {
  if (context.token_in === null) return null;
  return readToken(io, account(name, context.server_url), context.token_in);
}

async function forget(io: ContextIo, name: string, context: Context): Promise<void> {
  if (context.token_in === null) return;
  try {
    await dropToken(io, account(name, context.server_url), context.token_in);
  } catch {
    // If the keyring does not respond, the token of the removed context stays in it; nothing reads it again.
  }
}
