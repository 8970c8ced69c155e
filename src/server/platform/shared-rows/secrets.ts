import type { Services } from "../core/context.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq } from "../store/query.ts";

/** The key of that name, 32 random bytes in base64url; made at the first call, by whichever server is first. */
export async function serverSecret(
  { store, clock, random }: Pick<Services, "clock" | "random"> & { readonly store: ServerTx },
  name: string,
): Promise<string> {
  const secret = await store.serverSecrets.first({ where: eq("name", name) });
  if (secret) return secret.value;
  const [row] = await store.serverSecrets.upsert([{ name, created_at: clock.iso(), value: random.token(32) }], {
    on: ["name"],
    set: [],
  });
  return row!.value;
}
