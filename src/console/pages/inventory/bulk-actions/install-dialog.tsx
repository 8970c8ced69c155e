import { type ReactElement, useEffect, useMemo, useState } from "react";
import { softwareInstallsApi } from "../../../../api/delivery/software-installs.ts";
import { type SoftwareTitle, softwareApi } from "../../../../api/software/software.ts";
import { client, useRead } from "../../../api.ts";
import { Combobox } from "../../../parts/combobox.tsx";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import { useTeamId } from "../../../url.ts";
import { nameOfSelection } from "../hosts/selected-hosts.tsx";
import { BulkDialog, type BulkProps } from "./bulk-dialog.tsx";
import "./bulk-actions.css";
import type { SendBulk } from "./use-preview.ts";

const kinds = {
  install: {
    endpoint: softwareInstallsApi.installOnHosts,
    title: "Install software on",
    verb: "Install",
    done: (title: string, hosts: string) => `${title} will be installed on ${hosts} when online.`,
  },
  uninstall: {
    endpoint: softwareInstallsApi.uninstallFromHosts,
    title: "Uninstall software from",
    verb: "Uninstall",
    done: (title: string, hosts: string) => `${title} will be uninstalled from ${hosts} when online.`,
  },
} as const;

/** Installs or uninstalls software that the teams of the hosts offer. Hosts to which it is not offered are left out. */
export function InstallDialog({ kind, ...props }: BulkProps & { readonly kind: keyof typeof kinds }): ReactElement {
  const { target } = props.frozen;
  const { endpoint, title: heading, verb, done } = kinds[kind];
  const [title, setTitle] = useState<SoftwareTitle | null>(null);
  const send = useMemo<SendBulk | null>(() => {
    if (title === null) return null;
    const params = { id: String(title.id) };
    return (call) => client.call(endpoint, { params, body: target }, call);
  }, [title, target, endpoint]);
  return (
    <BulkDialog
      {...props}
      title={`${heading} ${nameOfSelection(props.frozen)}`}
      verb={verb}
      send={send}
      done={(hosts) => done(nameOf(title!), hosts)}
      canUndo
    >
      <TitleChoice title={title} onChange={setTitle} />
    </BulkDialog>
  );
}

const nameOf = ({ display_name, name }: SoftwareTitle): string => display_name || name;

interface TitleChoiceProps {
  readonly title: SoftwareTitle | null;
  readonly onChange: (title: SoftwareTitle | null) => void;
}

const PAUSE_MS = 250;
const MAX_SHOWN = 20;

/** Finds a title by a part of its name, among those that teams offer. */
function TitleChoice({ title, onChange }: TitleChoiceProps): ReactElement {
  const teamId = useTeamId();
  const [text, setText] = useState("");
  const [searched, setSearched] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const query = {
    available_for_install: true,
    order_key: "name",
    per_page: MAX_SHOWN,
    page: 0,
    ...(searched === "" ? {} : { query: searched }),
    ...(teamId === null ? {} : { team_id: teamId }),
  } as const;
  const { data, error } = useRead(softwareApi.titles, { query }, { enabled: title === null });
  if (title !== null)
    return (
      <div className="title-choice">
        <span>
          Software: <strong>{nameOf(title)}</strong>
        </span>
        <button type="button" className="plain small" onClick={() => onChange(null)}>
          Choose another
        </button>
      </div>
    );
  const titles = data?.software_titles ?? [];
  return (
    <div className="title-choice">
      <Combobox
        label="Software"
        listLabel="Software"
        placeholder="A part of its name"
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        options={titles.map((option) => ({
          id: String(option.id),
          content: (
            <>
              {nameOf(option)} <span className="quiet">{option.source.replaceAll("_", " ")}</span>
            </>
          ),
        }))}
        onSelect={(id) => onChange(titles.find((option) => String(option.id) === id) ?? null)}
      />
      {error !== null && <ErrorMessage error={error} />}
      {data !== undefined && titles.length === 0 && (
        <p className="quiet">
          {searched === "" ? "No software is offered for installation." : "No software with this name is offered."}
        </p>
      )}
    </div>
  );
}
