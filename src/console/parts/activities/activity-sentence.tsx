import type { ReactElement } from "react";
import { PageLink } from "../../frame/page-link.tsx";
import { type Piece, piecesOf, type ShownActivity } from "./pieces.ts";

/** An activity as a sentence, with a link to its host. */
export function ActivitySentence({ activity }: { readonly activity: ShownActivity }): ReactElement {
  const { who, what } = piecesOf(activity);
  return (
    <>
      <strong>
        <Pieces pieces={who} />
      </strong>{" "}
      <Pieces pieces={what} />
    </>
  );
}

function Pieces({ pieces }: { readonly pieces: readonly Piece[] }): ReactElement {
  return (
    <>
      {pieces.map((piece, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a sentence never change their order
        <PieceOf key={at} piece={piece} />
      ))}
    </>
  );
}

function PieceOf({ piece }: { readonly piece: Piece }): ReactElement {
  if (piece.kind === "text") return <>{piece.text}</>;
  if (piece.kind === "host" && piece.id !== null) return <PageLink href={`/hosts/${piece.id}`}>{piece.text}</PageLink>;
  return <em>{piece.text}</em>;
}
