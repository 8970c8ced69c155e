import { may, useSession } from "../../../session.ts";

/** The teams into which the user may enroll hosts, as options. 0: no team. */
export function useEnrollTeams(): readonly { readonly value: string; readonly label: string }[] {
  const { available_teams } = useSession();
  return [
    ...(may("enroll_secrets:read", null) ? [{ value: "0", label: "No team" }] : []),
    ...available_teams
      .filter(({ id }) => id > 0 && may("enroll_secrets:read", id))
      .map(({ id, name }) => ({ value: String(id), label: name })),
  ];
}
