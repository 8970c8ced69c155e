import type { ReactElement } from "react";
import { policiesApi } from "../../../../api/checks/policies.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Bars } from "../../../parts/pictures/bars.tsx";
import { useTeamId } from "../../../url.ts";

const MAX_POLICIES = 6;

/** The policies that fail on most hosts. */
export function PoliciesCard(): ReactElement {
  const teamId = useTeamId();
  const query = { order_key: "failing_host_count", order_direction: "desc", page: 0, per_page: MAX_POLICIES } as const;
  const global = useRead(policiesApi.listGlobal, { query }, { enabled: teamId === null });
  const params = { id: String(teamId ?? 0) };
  const ofTeam = useRead(
    policiesApi.listTeam,
    { params, query: { ...query, merge_inherited: true } },
    { enabled: teamId !== null },
  );
  return (
    <Card title="Failing policies" more={{ name: "All policies", href: "/policies" }}>
      <Read from={teamId === null ? global : ofTeam} what="policies">
        {({ policies }) => (
          <Bars
            label="Policies that fail on most hosts"
            unit="Hosts"
            bars={(policies ?? [])
              .filter(({ failing_host_count }) => failing_host_count > 0)
              .map(({ id, name, critical, failing_host_count }) => ({
                key: id,
                count: failing_host_count,
                name: (
                  <>
                    <PageLink href="/hosts" query={{ policy_id: id, policy_response: "failing" }}>
                      {name}
                    </PageLink>{" "}
                    {critical && <Badge tone="note">critical</Badge>}
                  </>
                ),
              }))}
            empty="No policy fails."
          />
        )}
      </Read>
    </Card>
  );
}
