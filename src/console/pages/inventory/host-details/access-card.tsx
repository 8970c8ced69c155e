import type { ReactElement } from "react";
import { conditionalAccessApi } from "../../../../api/automations/conditional-access.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { useRead } from "../../../api.ts";
import { Badge, type Tone } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Time } from "../../../parts/time.tsx";
import { isPremium } from "../../../session.ts";

const tones: Readonly<Record<string, Tone>> = { compliant: "good", noncompliant: "bad", unreported: "note" };

/** Whether the host's user may sign in to the organization's other services. Nothing if this does not concern the host. */
export function AccessCard({ host }: { readonly host: Host }): ReactElement | null {
  const { data } = useRead(conditionalAccessApi.host, { params: { id: String(host.id) } }, { enabled: isPremium() });
  const access = data?.conditional_access;
  if (access === undefined || (!access.enabled && access.directory === null)) return null;
  const { enabled, blocking_policies, directory } = access;
  const isBlocked = blocking_policies.length > 0;
  return (
    <Card title="Conditional access">
      <Facts
        facts={[
          ["Sign-ins", enabled && <Badge tone={isBlocked ? "bad" : "good"}>{isBlocked ? "blocked" : "allowed"}</Badge>],
          ["Blocked by", blocking_policies.map(({ name }) => name).join(", ")],
          ["Device", directory?.device_id],
          ["Account", directory?.user_principal_name],
          ["Directory", directory && <Badge tone={tones[directory.status] ?? "quiet"}>{directory.status}</Badge>],
          ["Error", directory?.last_error],
          ["Reported", directory && <Time value={directory.reported_at} />],
        ]}
      />
    </Card>
  );
}
