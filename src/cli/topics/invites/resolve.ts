import { type Invite, invitesApi } from "../../../api/accounts/invites.ts";
import type { InputOf, ReplyOf } from "../../../api/endpoint.ts";
import { notFound } from "../../errors.ts";

type List = (
  endpoint: typeof invitesApi.list,
  input: InputOf<typeof invitesApi.list>,
) => Promise<ReplyOf<typeof invitesApi.list>>;

/** Finds an invite by id or email. */
export async function resolveInvite(list: List, text: string): Promise<Invite> {
  const byId = /^\d+$/.test(text);
  const { invites } = await list(invitesApi.list, byId ? {} : { query: { query: text } });
  const address = text.trim().toLowerCase();
  const invite = invites.find(({ id, email }) => (byId ? String(id) === text : email === address));
  if (!invite) throw notFound(`there is no invite ${text}`, "`svc invites list` shows them.");
  return invite;
}
