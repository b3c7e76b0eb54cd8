import Foundation
import HealthModel

/// Decides the identity of every sample of an export, in whichever way it is read: at once where its key is its own, and
/// by its rank at the end of the file where others may have the same.
struct ExportIdentities: ~Copyable {
  /// The hashes of keys that are not known to be unique.
  private let suspects: HashSet64
  /// By the name of a source in the file, the name that identities use, where it is another.
  private let sourceNames: [String: String]
  private var held = HeldSamples()

  init(suspects: HashSet64, sourceNames: [String: String]) {
    self.suspects = suspects
    self.sourceNames = sourceNames
  }

  /// Whether another element may have the key with this hash, of ``KeyReader/Key/hash``.
  func isShared(_ hash: UInt64) -> Bool { suspects.contains(hash) }

  /// The name that identities use for a source.
  func name(ofSource name: String) -> String { sourceNames.isEmpty ? name : sourceNames[name] ?? name }

  /// Gives a sample the identity of one that is alone with its key.
  ///
  /// - Returns: its other identity, if it is of a kind that has files.
  @discardableResult
  func identify(_ sample: inout Sample, as kind: ElementKind) -> SideFileIdentity? {
    let key = key(of: sample, kind)
    sample.uuid = key.uuid(ordinal: 0)
    if case .other = kind { return key.sideFileIdentity(sample.payload, ordinal: 0) }
    return nil
  }

  /// Gives a sample whose value changes from export to export the identity that its value makes.
  func identify(reading sample: inout Sample) { sample.uuid = SampleIdentity.uuid(ofReading: sample) }

  // MARK: Keys that several may have

  /// Holds a sample back. Throws `EncodingError` for one that cannot be written as JSON.
  mutating func hold(_ sample: Sample, as kind: ElementKind) throws {
    let key = key(of: sample, kind)
    try held.add(sample, key: key)
  }

  /// Identifies a correlation and its members where all of them are alone with their keys; else holds back what is not.
  ///
  /// - Returns: those whose identity is known.
  mutating func identify(_ correlation: Draft, members: [Draft]) -> [Sample] {
    var known: [Sample] = []
    var all: [(sample: Sample, key: SampleKey?)] = []
    for member in members {
      var sample = member.sample
      if isShared(member.hash) {
        all.append((sample, key(of: sample, .record)))
      } else {
        identify(&sample, as: .record)
        all.append((sample, nil))
        known.append(sample)
      }
    }
    var sample = correlation.sample
    if isShared(correlation.hash) || known.count < members.count {
      let key = key(of: sample, .correlation)
      held.add(sample, key: key, members: all)
    } else {
      sample.payload = .correlation(Correlation(members: known.map(\.reference)))
      identify(&sample, as: .correlation)
      known.append(sample)
    }
    return known
  }

  /// What has been held back.
  mutating func takeHeld() -> HeldSamples {
    defer { held = HeldSamples() }
    return held
  }

  private func key(of sample: Sample, _ kind: ElementKind) -> SampleKey {
    SampleKey(kind: kind.identity, sample: sample, source: name(ofSource: sample.source.name))
  }
}

extension UUID {
  /// The nil UUID of RFC 9562: that of a sample whose identity is not decided yet.
  static var undecided: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
