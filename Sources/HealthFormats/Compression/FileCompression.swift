import ZstandardFrames

/// How a whole file is compressed; the raw value is the suffix that says so.
public enum FileCompression: String, Hashable, Sendable, CaseIterable {
  /// gzip (RFC 1952).
  case gzip = "gz"
  /// Zstandard (RFC 8878).
  case zstandard = "zst"

  /// What the suffix of a file's name says, in any case: `health.json.gz`; `nil` for any other.
  public init?(suffixOf path: String) {
    let path = path.lowercased()
    guard let found = Self.allCases.first(where: { path.ends(with: ".\($0.rawValue)") }) else { return nil }
    self = found
  }

  /// What the first bytes of a file say; `nil` for one that is not compressed in one of these ways.
  init?(_ head: [UInt8]) {
    guard let found = Self.allCases.first(where: { head.starts(with: $0.signature) }) else { return nil }
    self = found
  }

  private var signature: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstandard: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }

  /// For the whole of one file.
  package func compressor() -> sending any ByteCompressor {
    switch self {
    case .gzip: GzipCompressor()
    case .zstandard: ZstandardCompressor()
    }
  }

  /// The content of what `source` gives.
  ///
  /// - Parameter path: of the file, for errors.
  func decompressing(_ source: any ByteSource, path: String) -> any ByteSource {
    switch self {
    case .gzip: GzipSource(source, path: path)
    case .zstandard: ZstandardSource(source, path: path)
    }
  }
}
