"""Decompress the body of a reply piece by piece, in bounded memory however much it unpacks to."""

import zlib
from collections.abc import Iterator

from proctor.core.sentence import say
from proctor.transport.faults import RequestFault, shown

ACCEPTED = "gzip, deflate"
PIECE_BYTES = 1 << 16
_EITHER_HEAD = zlib.MAX_WBITS | 32  # gzip or zlib, as the data say
_NO_HEAD = -zlib.MAX_WBITS


class Unpacker:
    """Decompresses gzip and deflate; some servers send deflate without its head."""

    def __init__(self, coding: str) -> None:
        if coding not in ("gzip", "x-gzip", "deflate"):
            raise RequestFault(
                "no_reply", say("its body is encoded as '{coding}', which was not accepted", coding=shown(coding))
            )
        self._coding = coding
        self._unzip = zlib.decompressobj(_EITHER_HEAD)
        self._has_begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what this part of a body unpacks to, in pieces of `PIECE_BYTES` at most.

        Raises:
            Fault: the data are damaged.
        """
        if data and not self._has_begun:
            self._has_begun = True
            if self._coding == "deflate" and data[0] & 0x0F != zlib.DEFLATED:
                self._unzip = zlib.decompressobj(_NO_HEAD)
        while data:
            if self._unzip.eof:  # gzip may come in several members
                self._unzip = zlib.decompressobj(_EITHER_HEAD)
            try:
                piece = self._unzip.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise RequestFault("truncated", shown(str(error))) from error
            data = self._unzip.unconsumed_tail or self._unzip.unused_data
            if piece:
                yield piece

    def check_end(self) -> None:
        """Refuse a body that ends before its compressed data do.

        Raises:
            Fault: the compressed data are cut off.
        """
        if self._has_begun and not self._unzip.eof:
            raise RequestFault("truncated", say("the body of the reply breaks off"))
