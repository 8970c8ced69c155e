import { type ReactElement, useState } from "react";
import { type BootstrapPackage, bootstrapApi } from "../../../../api/devices/bootstrap.ts";
import { fullPath } from "../../../../api/paths.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { formatted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import { FileForm } from "../../../parts/form/file-form.tsx";
import { uploadOf } from "../../../parts/form/upload.ts";
import { ReadOrNone } from "../../../parts/loading/read-or-none.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";

interface BootstrapCardProps {
  readonly teamId: number;
}

/** What Macs of the team install first after they have enrolled automatically. */
export function BootstrapCard({ teamId }: BootstrapCardProps): ReactElement {
  const outdate = useOutdate();
  const reply = useRead(bootstrapApi.metadata, { params: { team_id: teamId } });
  return (
    <Card title="Bootstrap package">
      <ReadOrNone from={reply} what="bootstrap package">
        {(bootstrap) =>
          bootstrap !== null ? (
            <Present bootstrap={bootstrap} teamId={teamId} />
          ) : (
            <>
              <p>Macs that enroll automatically install no package of yours first.</p>
              {may("setup:write", roleTeam(teamId)) && (
                <FileForm
                  label="Signed distribution package (.pkg)"
                  accept=".pkg"
                  submit="Upload package"
                  name="package"
                  send={(file, options) => {
                    const body = { team_id: teamId, package: uploadOf(file) };
                    return client.call(bootstrapApi.upload, { body }, options);
                  }}
                  onDone={() => {
                    notifyDone("The bootstrap package is uploaded.");
                    void outdate(bootstrapApi.metadata, bootstrapApi.summary);
                  }}
                />
              )}
            </>
          )
        }
      </ReadOrNone>
    </Card>
  );
}

interface PresentProps extends BootstrapCardProps {
  readonly bootstrap: BootstrapPackage;
}

const states = ["installed", "pending", "failed"] as const;

function Present({ bootstrap, teamId }: PresentProps): ReactElement {
  const outdate = useOutdate();
  const [isDeleting, setDeleting] = useState(false);
  const remove = async () => {
    await client.call(bootstrapApi.delete, { params: { team_id: teamId } });
    notifyDone(`${bootstrap.name} is deleted.`);
    await outdate(bootstrapApi.metadata, bootstrapApi.summary);
  };
  return (
    <>
      <Facts
        facts={[
          ["Name", bootstrap.name],
          ["Added", <Time key="added" value={bootstrap.created_at} />],
          ["SHA-256", <code key="digest">{bootstrap.sha256}</code>],
          ...states.map((state) => [`Hosts: ${state}`, <Hosts key={state} state={state} teamId={teamId} />] as const),
        ]}
      />
      <span className="buttons">
        <a
          className="button plain"
          href={`${fullPath(bootstrapApi.download)}?token=${encodeURIComponent(bootstrap.token)}`}
        >
          Download package
        </a>
        {may("setup:write", roleTeam(teamId)) && (
          <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDeleting(true)}>
            Delete package
          </button>
        )}
      </span>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${bootstrap.name}`}
          verb="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>Macs that enroll later do not install it. Where it is installed, it stays.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface HostsProps extends BootstrapCardProps {
  readonly state: (typeof states)[number];
}

/** How many hosts have the package in this state, for those who may know. */
function Hosts({ state, teamId }: HostsProps): ReactElement {
  const mayCount = may("mdm:read", roleTeam(teamId));
  const { data } = useRead(bootstrapApi.summary, { query: { team_id: teamId } }, { enabled: mayCount, isLive: true });
  return data === undefined ? (
    <span className="quiet">not known</span>
  ) : (
    <PageLink href={`/hosts?bootstrap_package=${state}&team_id=${teamId}`}>{formatted(data[state])}</PageLink>
  );
}
