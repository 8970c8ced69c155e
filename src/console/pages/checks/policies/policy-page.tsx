import { lazy, type ReactElement, Suspense, useState } from "react";
import { useParams } from "wouter";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Page } from "../../../frame/page.tsx";
import { useShortcut } from "../../../frame/shortcuts.ts";
import { useAction } from "../../../parts/action.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { useGo, useUrl } from "../../../url.ts";
import { automationsOf } from "./columns.tsx";
import { DeletePoliciesDialog } from "./delete-policies-dialog.tsx";
import { PolicyParts } from "./policy-parts.tsx";
import { useReports } from "./policy-reports.ts";
import { ResetPolicyDialog } from "./reset-policy-dialog.tsx";

const PolicyDialog = lazy(() => import("./policy-dialog.tsx"));

const breadcrumb = [{ name: "Policies", href: "/policies" }];

export default function PolicyPage(): ReactElement {
  const { id = "" } = useParams<{ id: string }>();
  const ofTeam = useUrl().get("of");
  const global = useRead(policiesApi.getGlobal, { params: { id } }, { enabled: ofTeam === null, isLive: true });
  const teams = useRead(
    policiesApi.getTeam,
    { params: { team_id: ofTeam ?? "0", policy_id: id } },
    { enabled: ofTeam !== null, isLive: true },
  );
  const reply = ofTeam === null ? global : teams;
  const policy = reply.data?.policy;
  return (
    <Page title={policy?.name ?? "Policy"} breadcrumb={breadcrumb} actions={policy && <Actions policy={policy} />}>
      <Read from={reply} what="policy">
        {({ policy: shown }) => (
          <>
            <About policy={shown} />
            <PolicyParts policy={shown} />
          </>
        )}
      </Read>
    </Page>
  );
}

function Actions({ policy }: { readonly policy: Policy }): ReactElement {
  const [dialog, setDialog] = useState<"edit" | "delete" | "reset" | null>(null);
  const outdate = useOutdate();
  const go = useGo();
  const teamId = policy.team_id === 0 ? null : policy.team_id;
  const reset = useAction(async () => {
    await request(() => client.call(policiesApi.resetAutomations, { body: { policy_ids: [policy.id] } }));
    notifyDone("Hosts that fail are treated as newly failing.");
    await outdate(policiesApi.getGlobal, policiesApi.getTeam);
  });
  useShortcut("e", "Edit the policy", () => setDialog("edit"), may("policies:write", teamId));
  const prefix = policy.team_id === null ? "/global" : `/teams/${policy.team_id}`;
  return (
    <>
      <AsCommand
        command={`svc policies get ${policy.id}`}
        method="GET"
        path={`/api/v1/svc${prefix}/policies/${policy.id}`}
      />
      {may("policies:automations", teamId) && (
        <button type="button" className="plain" onClick={() => reset.run()}>
          Reset automations
        </button>
      )}
      {may("policies:write", teamId) && (
        <>
          <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("reset")}>
            Reset results
          </button>
          <button type="button" className="danger" onClick={() => setDialog("delete")}>
            Delete
          </button>
          <button type="button" onClick={() => setDialog("edit")}>
            Edit
          </button>
        </>
      )}
      <Suspense>
        {dialog === "edit" && <PolicyDialog policy={policy} teamId={policy.team_id} onClose={() => setDialog(null)} />}
      </Suspense>
      {dialog === "reset" && <ResetPolicyDialog policy={policy} onClose={() => setDialog(null)} />}
      {dialog === "delete" && (
        <DeletePoliciesDialog
          policies={[policy]}
          onClose={(isDone) => {
            setDialog(null);
            if (isDone) go("/policies");
          }}
        />
      )}
    </>
  );
}

function About({ policy }: { readonly policy: Policy }): ReactElement {
  const reports = useReports(policy.team_id);
  const reported = reports?.policyIds.includes(policy.id) ? reports.destinations : [];
  return (
    <div className="grid">
      <Card title="About">
        <Facts
          facts={[
            ["Description", policy.description],
            ["Resolution", policy.resolution],
            ["Critical", policy.critical && <Badge tone="note">critical</Badge>],
            ["Platforms", policy.platform || "all"],
            ["Automations", [...reported, automationsOf(policy)].filter(Boolean).join(", ") || "none"],
            ["Labels", scopeText(policy)],
            ["Author", policy.author_name],
            ["Changed", <Time key="changed" value={policy.updated_at} />],
            ["Counted", <Time key="counted" value={policy.host_count_updated_at} none="not yet" />],
            ["Error", policy.error_message],
          ]}
        />
      </Card>
      <Card title="Query">
        <ScrollingText text={policy.query} />
      </Card>
    </div>
  );
}
