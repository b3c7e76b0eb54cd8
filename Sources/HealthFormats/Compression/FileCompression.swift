import ZstandardFrames

/// The compression of a whole file. The raw value is the suffix of its name.
public enum FileCompression: String, Hashable, Sendable, CaseIterable {
  /// gzip (RFC 1952).
  case gzip = "gz"
  /// Zstandard (RFC 8878).
  case zstandard = "zst"

  /// Returns the compression for the suffix of a file name, such as `health.json.gz`, ignoring case. Returns `nil`
  /// for other suffixes.
  public init?(suffixOf path: String) {
    let path = path.lowercased()
    guard let found = Self.allCases.first(where: { path.ends(with: ".\($0.rawValue)") }) else { return nil }
    self = found
  }

  /// Returns the compression for the first bytes of a file, or `nil` if the file is not compressed in one of these
  /// formats.
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

  /// Returns a compressor for one file.
  package func compressor() -> sending any ByteCompressor {
    switch self {
    case .gzip: GzipCompressor()
    case .zstandard: ZstandardCompressor()
    }
  }

  /// Returns a source of the decompressed content of `source`.
  ///
  /// - Parameter path: the path of the file, for errors.
  func decompressing(_ source: any ByteSource, path: String) -> any ByteSource {
    switch self {
    case .gzip: GzipSource(source, path: path)
    case .zstandard: ZstandardSource(source, path: path)
    }
  }
}
