import type { ReactElement } from "react";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { type InstallResult, softwareInstallsApi } from "../../../../api/delivery/software-installs.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../../../api/software/software.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { installStates } from "./install-states.tsx";

interface InstallResultDialogProps {
  readonly host: { readonly id: number; readonly display_name: string };
  readonly title: { readonly id: number; readonly name: string };
  readonly onClose: () => void;
}

/** What has become of the last installation or removal of a title on a host, with the output of its scripts. */
export default function InstallResultDialog({ host, title, onClose }: InstallResultDialogProps): ReactElement {
  const input = { params: { id: String(host.id) }, query: { query: title.name } };
  const reply = useRead(hostsApi.software, input, { isLive: true });
  return (
    <Dialog title={`${title.name} on ${host.display_name}`} isWide onClose={onClose}>
      <Read from={reply} what="result">
        {({ software }) => {
          const item = software.find(({ id }) => id === title.id);
          return item === undefined ? (
            <p>This server has neither installed it nor removed it.</p>
          ) : (
            <ItemResult hostId={host.id} item={item} />
          );
        }}
      </Read>
    </Dialog>
  );
}

interface ItemResultProps {
  readonly hostId: number;
  readonly item: HostSoftwareItem;
}

function ItemResult({ hostId, item }: ItemResultProps): ReactElement {
  const { status, software_package, app_store_app } = item;
  const isRemoval = status === "pending_uninstall" || status === "failed_uninstall";
  const { last_install, last_uninstall } = software_package ?? { last_install: null, last_uninstall: null };
  return (
    <>
      {status !== null && <p>{installStates[status]}</p>}
      {isRemoval && last_uninstall !== null && <RemovalOutput id={last_uninstall.script_execution_id} />}
      {!isRemoval && last_install !== null && <InstallOutput id={last_install.install_uuid} />}
      {app_store_app?.last_install && (
        <p>
          Requested <Time value={app_store_app.last_install.installed_at} />.{" "}
          <PageLink href={`/hosts/${hostId}/commands`}>The commands of the host</PageLink> have its answers.
        </p>
      )}
      {last_install === null && last_uninstall === null && !app_store_app?.last_install && (
        <p>This server has neither installed it nor removed it.</p>
      )}
    </>
  );
}

function InstallOutput({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(softwareInstallsApi.result, { params: { install_uuid: id } }, { isLive: true });
  return (
    <Read from={reply} what="output">
      {(result) => <Outputs result={result} />}
    </Read>
  );
}

function Outputs({ result }: { readonly result: InstallResult }): ReactElement {
  const { output, install_script_exit_code, post_install_script_output, post_install_script_exit_code } = result;
  return (
    <>
      <Facts
        facts={[
          ["Package", result.software_package],
          ["Requested", <Time key="requested" value={result.created_at} />],
          ["Ended", <Time key="ended" value={result.ended_at} none="not yet" />],
          ["By self-service", result.self_service ? "yes" : null],
          ["Message", result.message],
        ]}
      />
      {result.pre_install_query_output !== null && (
        <Output name="Pre-install query" text={result.pre_install_query_output || "No row."} code={null} />
      )}
      {output !== null && <Output name="Install script" text={output} code={install_script_exit_code} />}
      {post_install_script_output !== null && (
        <Output name="Post-install script" text={post_install_script_output} code={post_install_script_exit_code} />
      )}
      {output === null && result.status === "pending_install" && (
        <p className="quiet">The host has not reported a result yet.</p>
      )}
    </>
  );
}

function RemovalOutput({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(scriptsApi.result, { params: { execution_id: id } }, { isLive: true });
  return (
    <Read from={reply} what="output">
      {({ output, exit_code, message }) => (
        <>
          <Facts facts={[["Message", message]]} />
          <Output name="Uninstall script" text={output} code={exit_code} />
        </>
      )}
    </Read>
  );
}

interface OutputProps {
  readonly name: string;
  readonly text: string;
  readonly code: number | null;
}

function Output({ name, text, code }: OutputProps): ReactElement {
  return (
    <section aria-label={name} className="copyable">
      <h3>
        {name} {code !== null && <span className="quiet">(exit code {code})</span>}
      </h3>
      <ScrollingText text={text} />
    </section>
  );
}
