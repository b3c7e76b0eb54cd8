import HealthModel

/// The sources of plain records: names and versions, each decoded once, and their pairs.
struct PlainSources: ~Copyable {
  private var names = ByteInterner<Int>()
  private var nameTexts: [String] = []
  /// The names of the sources that identities use.
  private(set) var identityNames: [String] = []
  private var versions = ByteInterner<Int>()
  private var versionTexts: [String?] = [nil]
  private var indices: [Int: UInt32] = [:]
  private var last = (pair: -1, index: UInt32(0))

  /// - Returns: the index of the source among the coder's, and the number of its name; `nil` for texts that need a
  ///   remark.
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

  /// `nil` for what only a hostile file has: a name that would be added each time that it occurs.
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
