import type { ReactElement } from "react";
import { type DiskEncryptionSummary, diskEncryptionApi } from "../../../../api/devices/disk-encryption.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Card } from "../../../parts/card.tsx";
import { formatted } from "../../../parts/counted.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { ofTeam } from "../../../parts/one-team.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";

type State = keyof DiskEncryptionSummary;

const states: readonly { readonly state: State; readonly name: string; readonly meaning: string }[] = [
  { state: "verified", name: "Verified", meaning: "encrypted, and the server has the key" },
  { state: "verifying", name: "Verifying", meaning: "encrypted; the host has not confirmed it yet" },
  { state: "action_required", name: "Action required", meaning: "the user has to do something, such as restart" },
  { state: "enforcing", name: "Enforcing", meaning: "the host is to encrypt its disk, or is doing it" },
  { state: "failed", name: "Failed", meaning: "the host could not encrypt its disk, or send its key" },
  { state: "removing_enforcement", name: "Removing enforcement", meaning: "the setting is being taken from the host" },
];

/** The hosts of the team by how far the encryption of their disks is. */
export function EncryptionSummary({ teamId }: { readonly teamId: number }): ReactElement {
  const query = ofTeam(teamId);
  const reply = useRead(diskEncryptionApi.summary, { query }, { isLive: true });
  return (
    <Card title="Hosts">
      <Read from={reply} what="hosts">
        {(summary) => (
          <SmallTable
            name="Disk encryption"
            rows={states}
            keyOf={({ state }) => state}
            columns={[
              {
                name: "State",
                cell: ({ state, name }) => (
                  <PageLink href="/hosts" query={{ ...query, os_settings_disk_encryption: state }}>
                    {name}
                  </PageLink>
                ),
              },
              { name: "macOS", isNumber: true, cell: ({ state }) => formatted(summary[state].macos) },
              { name: "Windows", isNumber: true, cell: ({ state }) => formatted(summary[state].windows) },
              { name: "Linux", isNumber: true, cell: ({ state }) => formatted(summary[state].linux) },
              { name: "Meaning", cell: ({ meaning }) => meaning },
            ]}
            empty=""
          />
        )}
      </Read>
      <p className="quiet small">The key of a host is read on its page, by those who may; each reading is recorded.</p>
    </Card>
  );
}
