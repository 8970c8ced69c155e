import { type ReactElement, useState } from "react";
import { type Invite, invitesApi } from "../../../../api/accounts/invites.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";
import { rolesText } from "./roles.ts";

const MAX_SHOWN = 100;

/** Invites that nobody has accepted yet; nothing if there are none. */
export function Invites(): ReactElement | null {
  const reply = useRead(
    invitesApi.list,
    { query: { order_key: "created_at", order_direction: "desc", per_page: MAX_SHOWN } },
    { isLive: true },
  );
  const [withdrawn, setWithdrawn] = useState<Invite | null>(null);
  if (reply.data?.invites.length === 0) return null;
  return (
    <Card title="Invites">
      <Read from={reply} what="invites">
        {({ invites }) => (
          <SmallTable
            name="Invites"
            rows={invites}
            keyOf={({ id }) => id}
            columns={[
              { name: "Name", cell: ({ name }) => name },
              { name: "Email", cell: ({ email }) => email },
              { name: "Role", cell: rolesText },
              { name: "Invited", cell: ({ created_at }) => <Time value={created_at} /> },
              {
                name: "Action",
                cell: (invite) => (
                  <button
                    type="button"
                    className="danger small"
                    aria-haspopup="dialog"
                    aria-label={`Withdraw the invite of ${invite.name}`}
                    onClick={() => setWithdrawn(invite)}
                  >
                    Withdraw
                  </button>
                ),
              },
            ]}
            empty="Nobody is invited."
          />
        )}
      </Read>
      {withdrawn !== null && <WithdrawDialog invite={withdrawn} onClose={() => setWithdrawn(null)} />}
    </Card>
  );
}

interface WithdrawDialogProps {
  readonly invite: Invite;
  readonly onClose: () => void;
}

function WithdrawDialog({ invite, onClose }: WithdrawDialogProps): ReactElement {
  const outdate = useOutdate();
  const withdraw = async () => {
    await client.call(invitesApi.delete, { params: { id: String(invite.id) } });
    notifyDone(`The invite of ${invite.email} is withdrawn.`);
    await outdate(invitesApi.list);
  };
  return (
    <ConfirmDialog
      title={`Withdraw the invite of ${invite.name}`}
      verb="Withdraw"
      onConfirm={withdraw}
      onClose={() => onClose()}
    >
      <p>The link that was sent to {invite.email} no longer works.</p>
    </ConfirmDialog>
  );
}
