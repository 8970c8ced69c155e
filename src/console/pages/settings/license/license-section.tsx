import { useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { fullPath } from "../../../../api/paths.ts";
import { appConfigApi, type License } from "../../../../api/settings/app-config.ts";
import { versionApi } from "../../../../api/settings/version.ts";
import { REFRESH_MS, useRead } from "../../../api.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Card } from "../../../parts/card.tsx";
import { formatted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Time } from "../../../parts/time.tsx";
import { SectionPage } from "../section-page.tsx";

interface Health {
  readonly status: "ok" | "unhealthy";
  readonly warnings?: Readonly<Record<string, string>>;
  readonly failing?: Readonly<Record<string, string>>;
}

/** The license, the version and the health of the server. */
export default function LicenseSection(): ReactElement {
  const config = useRead(appConfigApi.get);
  const version = useRead(versionApi.get);
  const health = useQuery({ queryKey: ["health"], queryFn: readHealth, refetchInterval: REFRESH_MS });
  return (
    <SectionPage
      id="license"
      actions={<AsCommand command="svc license" method="GET" path={fullPath(appConfigApi.get)} />}
    >
      <div className="grid">
        <Card title="License">
          <Read from={config} what="license">
            {({ license }) => <LicenseFacts license={license} />}
          </Read>
        </Card>
        <Card title="Health">
          <Read from={health} what="health">
            {(reply) => <HealthFacts health={reply} />}
          </Read>
        </Card>
        <Card title="Version">
          <Read from={version} what="version">
            {({ version: name, branch, revision, go_version, build_date }) => (
              <Facts
                facts={[
                  ["Version", name],
                  ["Branch", branch],
                  ["Revision", revision],
                  ["Runtime", go_version],
                  ["Built", build_date !== "" && <Time value={build_date} />],
                ]}
              />
            )}
          </Read>
        </Card>
      </div>
    </SectionPage>
  );
}

const LicenseFacts = ({ license }: { readonly license: License }): ReactElement => (
  <Facts
    facts={[
      ["Tier", license.tier === "premium" ? "Premium" : "Free"],
      ["Organization", license.organization],
      ["Devices", license.device_count !== undefined && license.device_count > 0 && formatted(license.device_count)],
      ["Expires", license.tier === "premium" && <Time value={license.expiration} />],
      ["Note", license.note],
    ]}
  />
);

const HealthFacts = ({ health }: { readonly health: Health }): ReactElement => (
  <Facts
    facts={[
      [
        "Status",
        <Badge key="status" tone={health.status === "ok" ? "good" : "bad"}>
          {health.status}
        </Badge>,
      ],
      ...Object.entries({ ...health.failing, ...health.warnings }).map(([part, text]) => [part, text] as const),
    ]}
  />
);

/** The check for load balancers. Its reply has a body whether the server is healthy or not. */
async function readHealth({ signal }: { readonly signal: AbortSignal }): Promise<Health> {
  const reply = await fetch("/healthz", { signal, cache: "no-store" });
  return (await reply.json()) as Health;
}
