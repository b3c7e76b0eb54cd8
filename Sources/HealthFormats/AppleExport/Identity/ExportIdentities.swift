import Foundation
import HealthModel

/// The assignment of identities to all samples of an export: at once if a sample's key is unique, or else by its rank
/// at the end of the file.
struct ExportIdentities: ~Copyable {
  /// The hashes of keys that are not known to be unique.
  private let suspects: HashSet64
  /// The source names to use in identities, by source name in the file, if they differ.
  private let sourceNames: [String: String]
  private var held = HeldSamples()

  init(suspects: HashSet64, sourceNames: [String: String]) {
    self.suspects = suspects
    self.sourceNames = sourceNames
  }

  /// Returns whether another element may have a key with this ``KeyReader/Key/hash``.
  func isShared(_ hash: UInt64) -> Bool { suspects.contains(hash) }

  /// Returns the name of a source to use in identities.
  func name(ofSource name: String) -> String { sourceNames.isEmpty ? name : sourceNames[name] ?? name }

  /// Assigns the identity of a sample whose key is unique.
  ///
  /// - Returns: the alternative identity, if the sample is of a kind with side files.
  @discardableResult
  func identify(_ sample: inout Sample, as kind: ElementKind) -> SideFileIdentity? {
    let key = key(of: sample, kind)
    sample.uuid = key.uuid(ordinal: 0)
    if case .other = kind { return key.sideFileIdentity(sample.payload, ordinal: 0) }
    return nil
  }

  /// Assigns an identity made from the sample's value, for samples whose value changes from export to export.
  func identify(reading sample: inout Sample) { sample.uuid = SampleIdentity.uuid(ofReading: sample) }

  // MARK: Keys that several may have

  /// Holds a sample back until the end of the file. Throws `EncodingError` for a sample that cannot be written as
  /// JSON.
  mutating func hold(_ sample: Sample, as kind: ElementKind) throws {
    let key = key(of: sample, kind)
    try held.add(sample, key: key)
  }

  /// Assigns the identities of a correlation and its members if their keys are unique, and holds the others back.
  ///
  /// - Returns: the samples with an identity.
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

  /// Returns the samples that have been held back, and removes them.
  mutating func takeHeld() -> HeldSamples {
    defer { held = HeldSamples() }
    return held
  }

  private func key(of sample: Sample, _ kind: ElementKind) -> SampleKey {
    SampleKey(kind: kind.identity, sample: sample, source: name(ofSource: sample.source.name))
  }
}

extension UUID {
  /// The nil UUID of RFC 9562, for samples whose identity has not been decided yet.
  static var undecided: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}
