import AgeEncryption

/// A sequential reader for tar files. Skips directories; throws for other entries that are not files, and for names
/// that lead out of the folder.
///
/// Throws ``BackupError/damaged(_:)``, and the errors of its source.
package final class TarReader {
  /// A file of the archive.
  package struct Entry: Equatable {
    /// The relative name: one or more components, none of which is `.` or `..`.
    package var name: String
    /// The size in bytes; never negative.
    package var size: Int64
  }

  /// The maximum size of the extended header of an entry.
  private static let mostExtended: Int64 = 64 << 10
  private static let step = 64 << 10

  private let input: ReadAheadBytes
  /// The number of unread bytes of the current file.
  private var left: Int64 = 0
  private var padding: Int64 = 0
  private var isOver = false

  package init(_ source: @escaping AgeReader.Source) { input = ReadAheadBytes(source) }

  /// Returns the next file, skipping unread bytes of the current one; `nil` at the end, after which only zeros may
  /// follow.
  package func next() throws -> Entry? {
    while try read() != nil {}
    var extended: (name: String?, size: Int64?) = (nil, nil)
    while !isOver {
      try skip(padding)
      padding = 0
      let block = try exactly(TarHeader.blockCount)
      if block.allSatisfy({ $0 == 0 }) {
        try requireEnd()
        isOver = true
        return nil
      }
      guard var header = TarHeader(block) else { throw BackupError.damaged("an entry of the archive cannot be read") }
      if case .extended = header.kind {
        guard header.size <= Self.mostExtended,
          let fields = TarHeader.extended(try exactly(Int(header.size)))
        else { throw BackupError.damaged("an extended entry of the archive cannot be read") }
        padding = Int64(TarHeader.padding(after: header.size).count)
        if header.kind == .extended(isGlobal: false) { extended = fields }
        continue
      }
      header.name = extended.name ?? header.name
      header.size = extended.size ?? header.size
      extended = (nil, nil)
      if header.kind == .directory {
        guard header.size == 0 else { throw BackupError.damaged("a folder with content") }
        continue
      }
      guard header.kind == .file, let name = Self.safe(header.name) else {
        throw BackupError.damaged("it holds something that is no file of a backup")
      }
      left = header.size
      padding = Int64(TarHeader.padding(after: header.size).count)
      return Entry(name: name, size: header.size)
    }
    return nil
  }

  /// Returns the next piece of the current file; `nil` at its end.
  package func read() throws -> [UInt8]? {
    if left == 0 { return nil }
    try input.fill(1)
    guard !input.buffer.isEmpty else { throw BackupError.cutOff }
    let piece = input.take(Int(min(left, Int64(min(input.buffer.count, Self.step)))))
    left -= Int64(piece.count)
    return piece
  }

  private func exactly(_ count: Int) throws -> [UInt8] {
    try input.fill(count)
    guard input.buffer.count >= count else { throw BackupError.cutOff }
    return input.take(count)
  }

  private func skip(_ count: Int64) throws { _ = try exactly(Int(count)) }

  /// Reads to the end of the input: only its last bytes show whether everything before them is authentic.
  private func requireEnd() throws {
    while true {
      try input.fill(1)
      if input.buffer.isEmpty { return }
      guard input.take(input.buffer.count).allSatisfy({ $0 == 0 }) else {
        throw BackupError.damaged("there is more behind its end")
      }
    }
  }

  /// Returns the name without a leading `./`, which tar writes; `nil` for names that could lead elsewhere.
  private static func safe(_ name: String) -> String? {
    let name = name.utf8.starts(with: "./".utf8) ? String(name.dropFirst(2)) : name
    let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard name.utf8.count <= 255,
      parts.allSatisfy({ part in
        !part.isEmpty && !part.elementsEqual(".".utf8) && !part.elementsEqual("..".utf8)
          && part.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != 0x5C }
      })
    else { return nil }
    return name
  }
}
