import { type ReactElement, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostDetailsApi } from "../../../../api/inventory/host-details.ts";
import { client, request } from "../../../api.ts";
import { useAction } from "../../../parts/action.ts";
import { Copyable } from "../../../parts/as-command.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { may } from "../../../session.ts";

/** Shows the disk encryption key to those who may read it. Each reading is an activity. */
export function DiskKey({ host }: { readonly host: Host }): ReactElement | null {
  const [key, setKey] = useState<string | null>(null);
  const read = useAction(async () => {
    const { encryption_key } = await request(() =>
      client.call(hostDetailsApi.encryptionKey, { params: { id: String(host.id) } }),
    );
    setKey(encryption_key.key);
  });
  if (!host.mdm.encryption_key_available || !may("hosts:read_disk_key", host.team_id)) return null;
  return (
    <p>
      <button type="button" className="plain" onClick={() => read.run()}>
        Show disk encryption key
      </button>
      {key !== null && (
        <Dialog title="Disk encryption key" onClose={() => setKey(null)}>
          <p>That you have read it is recorded.</p>
          <Copyable label="Key" text={key} />
        </Dialog>
      )}
    </p>
  );
}
