import type { ReactElement } from "react";
import { PageLink } from "../../../frame/page-link.tsx";
import { counted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { policyHref } from "../../checks/policies/policy-href.ts";
import { countedStates } from "../../delivery/software-installs/install-states.tsx";

interface CountFactsProps {
  readonly titleId: number;
  readonly teamId: number;
  readonly counts: Readonly<Record<string, number>>;
}

const names: readonly (readonly [string, string])[] = [
  ...countedStates,
  // Store apps are not removed by this server.
  ["pending", "Waiting"],
  ["failed", "Failed"],
];

/** Not mentioned if there are none. */
const rare: readonly string[] = ["pending_uninstall", "failed_uninstall"];

/** On how many hosts it is in which state; each number opens its hosts. */
export function CountFacts({ titleId, teamId, counts }: CountFactsProps): ReactElement {
  return (
    <div className="install-counts">
      <Facts
        facts={names.flatMap(([state, name]) => {
          const count = counts[state];
          if (count === undefined || (count === 0 && rare.includes(state))) return [];
          const query = { software_title_id: titleId, software_status: state, team_id: teamId };
          return [
            [
              name,
              count === 0 ? (
                "no hosts"
              ) : (
                <PageLink key={state} href="/hosts" query={query} aria-label={`${name}: ${counted(count, "host")}`}>
                  {counted(count, "host")}
                </PageLink>
              ),
            ] as const,
          ];
        })}
      />
    </div>
  );
}

interface InstallPoliciesProps {
  readonly teamId: number;
  readonly policies: readonly { readonly id: number; readonly name: string }[] | null;
}

export function InstallPolicies({ teamId, policies }: InstallPoliciesProps): ReactElement {
  if (policies === null || policies.length === 0) return <>none</>;
  return (
    <ul className="inline-list">
      {policies.map(({ id, name }) => (
        <li key={id}>
          <PageLink href={policyHref({ id, team_id: teamId })}>{name}</PageLink>
        </li>
      ))}
    </ul>
  );
}
