import { type ReactElement, useState } from "react";
import { type EnrollSecret, enrollSecretsApi } from "../../../../api/settings/enroll-secrets.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";

interface SecretsTableProps {
  readonly secrets: readonly EnrollSecret[];
  /** Null: the secrets of hosts that get no team by enrolling. */
  readonly teamId: number | null;
}

export function TeamSecrets({ teamId }: { readonly teamId: number }): ReactElement {
  const reply = useRead(enrollSecretsApi.getTeam, { params: { id: String(teamId) } });
  return (
    <Read from={reply} what="secrets">
      {({ secrets }) => <SecretsTable secrets={secrets} teamId={teamId} />}
    </Read>
  );
}

export function GlobalSecrets(): ReactElement {
  const reply = useRead(enrollSecretsApi.getGlobal);
  return (
    <Read from={reply} what="secrets">
      {({ spec }) => <SecretsTable secrets={spec.secrets} teamId={null} />}
    </Read>
  );
}

/** The secrets with which hosts enroll, with a button to add one and one to remove each. */
function SecretsTable({ secrets, teamId }: SecretsTableProps): ReactElement {
  const outdate = useOutdate();
  const [removed, setRemoved] = useState<EnrollSecret | null>(null);
  const mayWrite = may("enroll_secrets:write", teamId);
  const change = async (nextOf: (stored: readonly string[]) => readonly string[], text: string) => {
    // The list is replaced as a whole: others may have changed it since it was shown.
    const next = nextOf(await storedSecrets(teamId));
    // Secrets that are sent without an end keep theirs.
    await replaceSecrets(
      teamId,
      next.map((secret) => ({ secret })),
    );
    notifyDone(text);
    await outdate(enrollSecretsApi.getTeam, enrollSecretsApi.getGlobal);
  };
  const add = useAction(() => request(() => change((stored) => [...stored, newSecret()], "A secret is added.")));
  return (
    <>
      <SmallTable
        name="Enroll secrets"
        rows={secrets}
        keyOf={({ secret }) => secret}
        columns={[
          { name: "Secret", cell: ({ secret }) => <code>{secret}</code> },
          { name: "Created", cell: ({ created_at }) => <Time value={created_at} /> },
          { name: "Expires", cell: ({ expires_at }) => <Time value={expires_at} /> },
          {
            name: "Action",
            cell: (secret) => (
              <SecretButtons secret={secret.secret} onRemove={mayWrite ? () => setRemoved(secret) : null} />
            ),
          },
        ]}
        empty="There are no secrets: no host can enroll."
      />
      {mayWrite && (
        <p className="after-table">
          <button type="button" className="plain" onClick={() => add.run()}>
            Add secret
          </button>
        </p>
      )}
      {removed !== null && (
        <ConfirmDialog
          title="Remove the secret"
          verb="Remove"
          onConfirm={() =>
            change((stored) => stored.filter((secret) => secret !== removed.secret), "The secret is removed.")
          }
          onClose={() => setRemoved(null)}
        >
          <p>
            No further host can enroll with <code>{removed.secret}</code>. Hosts that have enrolled with it stay.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface SecretButtonsProps {
  readonly secret: string;
  /** Null: the user may not remove it. */
  readonly onRemove: (() => void) | null;
}

function SecretButtons({ secret, onRemove }: SecretButtonsProps): ReactElement {
  const [isCopied, setCopied] = useState(false);
  return (
    <span className="buttons">
      <button
        type="button"
        className="plain small"
        onClick={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}
      >
        {isCopied ? "Copied" : "Copy"}
      </button>
      {onRemove !== null && (
        <button type="button" className="danger small" aria-haspopup="dialog" onClick={onRemove}>
          Remove
        </button>
      )}
    </span>
  );
}

async function storedSecrets(teamId: number | null): Promise<readonly string[]> {
  const secrets =
    teamId === null
      ? (await client.call(enrollSecretsApi.getGlobal)).spec.secrets
      : (await client.call(enrollSecretsApi.getTeam, { params: { id: String(teamId) } })).secrets;
  return secrets.map(({ secret }) => secret);
}

const replaceSecrets = (teamId: number | null, secrets: { secret: string }[]): Promise<unknown> =>
  teamId === null
    ? client.call(enrollSecretsApi.setGlobal, { body: { spec: { secrets } } })
    : client.call(enrollSecretsApi.setTeam, { params: { id: String(teamId) }, body: { secrets } });

const SECRET_BYTES = 24;

/** A secret of 32 letters and digits. */
const newSecret = (): string =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))
    .replaceAll("+", "A")
    .replaceAll("/", "B");
