import { type ReactElement, useState } from "react";
import { eulaApi } from "../../../../api/devices/eula.ts";
import { fullPath } from "../../../../api/paths.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { FileForm } from "../../../parts/form/file-form.tsx";
import { uploadOf } from "../../../parts/form/upload.ts";
import { ReadOrNone } from "../../../parts/loading/read-or-none.tsx";
import { Time } from "../../../parts/time.tsx";

/** The license agreement that end users accept before their device enrolls: one for the organization. */
export function EulaCard(): ReactElement {
  const outdate = useOutdate();
  const [isDeleting, setDeleting] = useState(false);
  const reply = useRead(eulaApi.metadata);
  return (
    <Card title="End user license agreement">
      <p className="hint">For the hosts of all teams whose end users sign in before their device enrolls.</p>
      <ReadOrNone from={reply} what="license agreement">
        {(eula) =>
          eula === null ? (
            <FileForm
              label="License agreement (PDF)"
              accept=".pdf"
              submit="Upload agreement"
              name="eula"
              send={(file, options) => client.call(eulaApi.upload, { body: { eula: uploadOf(file) } }, options)}
              onDone={() => {
                notifyDone("The license agreement is uploaded.");
                void outdate(eulaApi.metadata);
              }}
            />
          ) : (
            <>
              <Facts
                facts={[
                  ["Name", eula.name],
                  ["Added", <Time key="added" value={eula.created_at} />],
                  ["SHA-256", <code key="digest">{eula.sha256}</code>],
                ]}
              />
              <span className="buttons">
                <a
                  className="button plain"
                  href={fullPath(eulaApi.download).replace(":token", encodeURIComponent(eula.token))}
                >
                  Download agreement
                </a>
                <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDeleting(true)}>
                  Delete agreement
                </button>
              </span>
              {isDeleting && (
                <ConfirmDialog
                  title={`Delete ${eula.name}`}
                  verb="Delete"
                  onConfirm={async () => {
                    await client.call(eulaApi.delete, { params: { token: eula.token } });
                    notifyDone("The license agreement is deleted.");
                    await outdate(eulaApi.metadata);
                  }}
                  onClose={() => setDeleting(false)}
                >
                  <p>End users no longer see it when their device enrolls.</p>
                </ConfirmDialog>
              )}
            </>
          )
        }
      </ReadOrNone>
    </Card>
  );
}
