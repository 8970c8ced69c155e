import type { CreateInvite, Invite, ModifyInvite } from "../../../api/accounts/invites.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { hasChanged, notFound } from "../../platform/core/errors.ts";
import { linkTo } from "../../platform/core/http/links.ts";
import { type PageQuery, page } from "../../platform/core/http/paging.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { mailConfigured, sendMail } from "../../platform/mail/mail.ts";
import { inviteLetter } from "../../platform/mail/messages.ts";
import { eq, search } from "../../platform/store/query.ts";
import type { RoleSet } from "../users/access.ts";
import { noRoles, rolesAfter } from "../users/roles.ts";
import { cleanEmail } from "../users/rules.ts";
import { checkNotInvited, checkNoUser, checkSignIn, freeInvited, type InviteRow, locked } from "./rules.ts";
import { rolesOf, viewInvite, viewInvites } from "./view.ts";

export async function listInvites(ctx: Context, filter: PageQuery & { query?: string | undefined }) {
  const where = search(["name", "email"], filter.query ?? "");
  const { rows, meta } = await page(ctx.store.invites, filter, where);
  return { invites: await viewInvites(ctx, rows), meta };
}

/** The token is only in the mail. If no mail is sent, the reply contains the link. */
interface SentInvite {
  readonly invite: Invite;
  readonly link?: string;
}

export async function createInvite(ctx: Context, input: CreateInvite): Promise<SentInvite> {
  const email = cleanEmail(input.email);
  const signIn = await checkSignIn(ctx, input);
  const token = ctx.random.token(32);
  const row = await locked(ctx, async (inside) => {
    const { store } = inside;
    const roles = await rolesAfter(inside, noRoles, input, false);
    await checkNoUser(inside, email);
    await freeInvited(inside, email);
    const now = ctx.clock.iso();
    const invite = await store.invites.insert({
      created_at: now,
      updated_at: now,
      invited_by: ctx.user.kind === "user" ? ctx.user.id : null,
      name: input.name,
      email,
      position: input.position ?? "",
      ...signIn,
      global_role: roles.global,
      token_hash: tokenHash(token),
    });
    await writeTeams(inside, invite.id, roles);
    await recordActivity(inside, "created_invite", aboutInvite(invite));
    return invite;
  });
  const invite = await viewInvite(ctx, row);
  try {
    return { invite, ...(await send(ctx, row, token)) };
  } catch (error) {
    // Nobody knows the link of this invite, so it would only block the next invite to the address.
    await locked(ctx, (inside) => remove(inside, row.id)).catch(() => {});
    throw error;
  }
}

/** Mails the link, or returns it if outgoing mail is not configured. */
async function send(ctx: Context, to: Pick<InviteRow, "name" | "email">, token: string): Promise<{ link?: string }> {
  const link = await linkTo(ctx, `/login/invites/${token}`);
  if (!(await mailConfigured(ctx))) return { link };
  const { org_info } = await ctx.config.current();
  await sendMail(ctx, inviteLetter(to, ctx.user, org_info.org_name, link));
  return {};
}

/** A new address gets a new link with a new lifetime. The link to the old address becomes invalid. */
export async function modifyInvite(ctx: Context, id: number, change: ModifyInvite): Promise<SentInvite> {
  const email = change.email === undefined ? undefined : cleanEmail(change.email);
  const token = ctx.random.token(32);
  // Mailed before anything is written, so that after a failed mail the old link stays valid.
  const { before } = await checkChange(ctx, id, change, email);
  const isMoved = email !== undefined && email !== before.email;
  const sent = isMoved ? await send(ctx, { name: change.name ?? before.name, email }, token) : {};
  return locked(ctx, async (inside) => {
    const { store } = inside;
    const { before: now, signIn, previousRoles, roles } = await checkChange(inside, id, change, email);
    if (now.email !== before.email) throw hasChanged("the address of the invite was changed meanwhile");
    if (isMoved) await freeInvited(inside, email, id);
    const at = ctx.clock.iso();
    await store.invites.update({
      where: eq("id", id),
      set: {
        updated_at: at,
        name: change.name,
        position: change.position,
        ...signIn,
        global_role: roles.global,
        ...(isMoved ? { email, created_at: at, token_hash: tokenHash(token) } : {}),
      },
    });
    if (roles !== previousRoles) {
      await store.inviteTeams.delete(eq("invite_id", id));
      await writeTeams(inside, id, roles);
    }
    const after = await find(inside, id);
    await recordActivity(inside, "edited_invite", aboutInvite(after));
    return { invite: await viewInvite(inside, after), ...sent };
  });
}

/** The invite before and after the change. Throws if the change is not allowed. */
async function checkChange(ctx: Context, id: number, change: ModifyInvite, email: string | undefined) {
  const before = await find(ctx, id);
  const signIn = await checkSignIn(ctx, change, before);
  const previousRoles = await rolesOf(ctx, before);
  const roles = await rolesAfter(ctx, previousRoles, change, false);
  if (email !== undefined && email !== before.email) {
    await checkNoUser(ctx, email, true);
    await checkNotInvited(ctx, email, id);
  }
  return { before, signIn, previousRoles, roles };
}

export async function deleteInvite(ctx: Context, id: number): Promise<Record<string, never>> {
  await locked(ctx, (inside) => remove(inside, id));
  return {};
}

async function remove(ctx: Context, id: number): Promise<void> {
  const row = await find(ctx, id);
  await ctx.store.invites.delete(eq("id", id));
  await recordActivity(ctx, "deleted_invite", aboutInvite(row));
}

async function find({ store }: Context, id: number): Promise<InviteRow> {
  const row = await store.invites.get(id);
  if (!row) throw notFound("invite", id);
  return row;
}

async function writeTeams({ store }: Context, inviteId: number, { teams }: RoleSet): Promise<void> {
  if (teams.size > 0)
    await store.inviteTeams.insertMany([...teams].map(([team_id, role]) => ({ invite_id: inviteId, team_id, role })));
}

const aboutInvite = ({ id, email }: InviteRow) => ({ invite_id: id, invite_email: email });
