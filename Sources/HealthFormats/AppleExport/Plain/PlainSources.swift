import HealthModel

/// The tables of the source names and versions of plain records, so that each is decoded once, and of their pairs.
struct PlainSources: ~Copyable {
  private var names = ByteInterner<Int>()
  private var nameTexts: [String] = []
  /// The source names to use in identities, by the number of the name.
  private(set) var identityNames: [String] = []
  private var versions = ByteInterner<Int>()
  private var versionTexts: [String?] = [nil]
  private var indices: [Int: UInt32] = [:]
  private var last = (pair: -1, index: UInt32(0))

  /// Looks up a source.
  ///
  /// - Returns: the index of the source in the coder's dictionary, and the number of its name; `nil` for texts that
  ///   need a remark.
  mutating func index(
    name: Bytes, version: Bytes?, _ coder: inout BatchCoder, _ identities: borrowing ExportIdentities
  ) -> (index: UInt32, number: Int)? {
    guard let name = names.find(name) ?? addName(name, identities) else { return nil }
    var number = 0
    if let version {
      guard let known = versions.find(version) ?? addVersion(version) else { return nil }
      number = known
    }
    let pair = name << 32 | number
    if pair == last.pair { return (last.index, name) }
    let index: UInt32
    if let known = indices[pair] {
      index = known
    } else {
      index = coder.sources.index(of: Source(name: nameTexts[name], version: versionTexts[number]))
      indices[pair] = index
    }
    last = (pair, index)
    return (index, name)
  }

  /// Adds a name. Returns `nil` for a name that needs a remark, or that is too long to be kept in the table, which
  /// only a hostile file has.
  private mutating func addName(_ bytes: Bytes, _ identities: borrowing ExportIdentities) -> Int? {
    guard bytes.isInternable else { return nil }
    let text = InternedText(bytes)
    guard text.defects.isEmpty else { return nil }
    nameTexts.append(text.text)
    identityNames.append(identities.name(ofSource: text.text))
    names.insert(bytes, nameTexts.count - 1)
    return nameTexts.count - 1
  }

  private mutating func addVersion(_ bytes: Bytes) -> Int? {
    guard bytes.isInternable else { return nil }
    let text = InternedText(bytes)
    guard text.defects.isEmpty else { return nil }
    versionTexts.append(text.text)
    versions.insert(bytes, versionTexts.count - 1)
    return versionTexts.count - 1
  }
}
