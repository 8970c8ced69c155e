// Who has unsubscribed from which mails about failing policies. `teamId` as in the API: null is global, 0 is hosts without
// a team.
import type { ServerTx } from "../core/tables.ts";
import { and, eq, isNull, not, oneOf, type Predicate } from "../store/query.ts";

type Tables = Pick<ServerTx, "mailOptOuts">;

const placeOf = (teamId: number | null) => ({ is_of_team: teamId !== null, team_id: teamId === 0 ? null : teamId });

function ofPlace(teamId: number | null): Predicate {
  const { is_of_team, team_id } = placeOf(teamId);
  return and(eq("is_of_team", is_of_team), team_id === null ? isNull("team_id") : eq("team_id", team_id));
}

/** Returns false if the address has unsubscribed before. */
export async function optOut(tx: Tables, teamId: number | null, email: string, at: string): Promise<boolean> {
  const address = email.toLowerCase();
  if ((await tx.mailOptOuts.count(and(ofPlace(teamId), eq("email", address)))) > 0) return false;
  await tx.mailOptOuts.upsert([{ ...placeOf(teamId), email: address, created_at: at }], {
    on: ["is_of_team", "team_id", "email"],
    set: [],
  });
  return true;
}

/** The addresses that still get the mails. */
export async function subscribed(tx: Tables, teamId: number | null, recipients: readonly string[]): Promise<string[]> {
  const gone = await tx.mailOptOuts.pick(["email"], { where: ofPlace(teamId) });
  const optedOut = new Set(gone.map(({ email }) => email));
  return recipients.filter((address) => !optedOut.has(address.toLowerCase()));
}

/** Addresses that are no longer recipients are forgotten, so that an administrator who adds one again subscribes it. */
export async function dropOptOuts(tx: Tables, teamId: number | null, recipients: readonly string[]): Promise<void> {
  const kept = recipients.map((address) => address.toLowerCase());
  await tx.mailOptOuts.delete(and(ofPlace(teamId), not(oneOf("email", kept))));
}
