import { type ReactElement, useState } from "react";
import { Combobox } from "../parts/combobox.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { consolePaths } from "../routes.ts";
import { useGo } from "../url.ts";
import { ownEntries } from "./entries.ts";
import { closePalette, usePaletteOpen } from "./palette-state.ts";

/** The search over everything: opened by Ctrl+K or a slash. */
export function Palette(): ReactElement | null {
  return usePaletteOpen() ? <PaletteDialog /> : null;
}

function PaletteDialog(): ReactElement {
  const go = useGo();
  const [text, setText] = useState("");
  const pages = ownEntries().filter(
    ({ name, href }) => consolePaths.includes(href) && name.toLowerCase().includes(text.trim().toLowerCase()),
  );
  return (
    <Dialog title="Search" onClose={closePalette}>
      <Combobox
        label="Search"
        listLabel="Results"
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        placeholder="Pages"
        options={pages.map(({ name, href }) => ({ id: href, content: <>{name}</> }))}
        onSelect={(href) => {
          closePalette();
          go(href);
        }}
      />
    </Dialog>
  );
}
