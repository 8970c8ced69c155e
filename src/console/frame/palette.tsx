import { type ReactElement, useEffect, useState } from "react";
import { type SearchResult, searchApi } from "../../api/edge/search.ts";
import { useRead } from "../api.ts";
import { Combobox, type ComboboxOption } from "../parts/combobox.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { consolePaths } from "../routes.ts";
import { useGo } from "../url.ts";
import { ownEntries } from "./entries.ts";
import { closePalette, usePaletteOpen } from "./palette-state.ts";
import { hrefOfResult } from "./search-results.ts";

/** The search over everything: opened by Ctrl+K or a slash. */
export function Palette(): ReactElement | null {
  return usePaletteOpen() ? <PaletteDialog /> : null;
}

const PAUSE_MS = 200;
const MIN_LENGTH = 2;

function PaletteDialog(): ReactElement {
  const go = useGo();
  const [text, setText] = useState("");
  const [searched, setSearched] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isLong = searched.length >= MIN_LENGTH;
  const { data } = useRead(searchApi.search, { query: { query: searched } }, { enabled: isLong });
  const results = isLong ? (data?.results ?? []).filter((result) => hrefOfResult(result) !== null) : [];
  const pages = ownEntries().filter(
    ({ name, href }) => consolePaths.includes(href) && name.toLowerCase().includes(text.trim().toLowerCase()),
  );
  const options: readonly (ComboboxOption & { readonly href: string })[] = [
    ...pages.map(({ name, href }) => ({ id: href, href, content: <>{name}</> })),
    ...results.map((result) => ({
      id: `${result.type} ${result.id}`,
      href: hrefOfResult(result)!,
      content: <Result result={result} />,
    })),
  ];
  return (
    <Dialog title="Search" onClose={closePalette}>
      <Combobox
        label="Search"
        listLabel="Results"
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        placeholder="Pages, hosts, users, policies, software ..."
        options={options}
        onSelect={(id) => {
          closePalette();
          const option = options.find((candidate) => candidate.id === id);
          if (option !== undefined) go(option.href);
        }}
      />
      {options.length === 0 && <p className="quiet">Nothing is called this.</p>}
    </Dialog>
  );
}

/** What was found, with why it matches if its name does not. */
function Result({ result }: { readonly result: SearchResult }): ReactElement {
  const { type, name, team_name, match } = result;
  const isByName = match.text === name;
  return (
    <>
      {name}{" "}
      <span className="quiet">
        {type === "cves" ? "vulnerability" : type.replace(/ies$/, "y").replace(/s$/, "")}
        {team_name !== null && `, ${team_name}`}
        {!isByName && `, ${match.field.replaceAll("_", " ")}: ${match.text}`}
      </span>
    </>
  );
}
