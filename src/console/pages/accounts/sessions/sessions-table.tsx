import type { ReactElement } from "react";
import { type Session, sessionsApi } from "../../../../api/accounts/sessions.ts";
import { tokensApi } from "../../../../api/accounts/tokens.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { Badge } from "../../../parts/badge.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";
import { programOf } from "./program.ts";

interface SessionsTableProps {
  readonly userId: number;
  readonly kind: Session["kind"];
}

const nameOf = ({ kind, name, user_agent }: Session): string => (kind === "token" ? name : programOf(user_agent));

/** The present session first, then those that were used last. */
const byUse = (a: Session, b: Session): number =>
  Number(b.current) - Number(a.current) || b.accessed_at.localeCompare(a.accessed_at) || b.session_id - a.session_id;

/** A token that was not used since it was created has that as its time. */
const lastUse = ({ kind, created_at, accessed_at }: Session): string | null =>
  kind === "token" && accessed_at === created_at ? null : accessed_at;

/** The sessions, or the API tokens, of a user, each with a button that ends it. */
export function SessionsTable({ userId, kind }: SessionsTableProps): ReactElement {
  const sessions = useRead(sessionsApi.listOfUser, { params: { id: String(userId) } });
  const end = useEnd();
  const isToken = kind === "token";
  return (
    <Read from={sessions} what={isToken ? "tokens" : "sessions"}>
      {(reply) => (
        <SmallTable
          name={isToken ? "Tokens" : "Sessions"}
          rows={reply.sessions.filter((session) => session.kind === kind).sort(byUse)}
          keyOf={({ session_id }) => session_id}
          columns={[
            { name: isToken ? "Name" : "Browser or program", cell: (session) => <SessionName session={session} /> },
            { name: "From", cell: ({ address }) => address },
            { name: "Created", cell: ({ created_at }) => <Time value={created_at} /> },
            { name: "Last used", cell: (session) => <Time value={lastUse(session)} /> },
            { name: "Expires", cell: ({ expires_at }) => <Time value={expires_at} /> },
            {
              name: "Action",
              cell: (session) =>
                !session.current && (
                  <button
                    type="button"
                    className="danger small"
                    aria-label={`End ${nameOf(session)}`}
                    onClick={() => end.run(session)}
                  >
                    End
                  </button>
                ),
            },
          ]}
          empty={isToken ? "There are no API tokens." : "There are no sessions."}
        />
      )}
    </Read>
  );
}

const SessionName = ({ session }: { readonly session: Session }): ReactElement => (
  <>
    {nameOf(session)} {session.current && <Badge tone="good">this one</Badge>}
  </>
);

function useEnd() {
  const outdate = useOutdate();
  return useAction(async (session: Session) => {
    await request(() => client.call(sessionsApi.delete, { params: { id: String(session.session_id) } }));
    notifyDone(session.kind === "token" ? `The token ${session.name} is ended.` : "The session is ended.");
    await outdate(sessionsApi.listOfUser, tokensApi.list);
  });
}
