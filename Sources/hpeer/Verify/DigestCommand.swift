import ArgumentParser
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Digest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print digests that are equal on machines with equal records.",
    discussion: """
      For each type the number of samples and of known deletions, and a digest of both, 32 hexadecimal digits that do \
      not depend on the order in which things came. docs/protocol/digest.md specifies it. `hpeer verify` compares with another \
      machine by itself.

      Examples:
        hpeer digest
        hpeer digest --types stepCount --months
        hpeer digest --deep --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: JSONOption
  @OptionGroup var selection: TypeOptions
  @OptionGroup var sources: SourceOptions
  @Flag(help: "Print each month (UTC) instead of each type; --json always has them.")
  var months = false
  @Flag(help: "Also print a digest of the contents of all samples. Reads every sample.")
  var deep = false
  @Flag(help: "Recompute the digests from the samples, and replace the stored ones.")
  var anew = false

  /// The maximum number of samples read within one transaction.
  private static let partSize = 100_000

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let filter = SampleFilter(types: selection.setWithMembers, sources: try await sources.known(in: store))
    if anew { try await store.digests.forget() }
    let digest = try await interruptible("nothing was compared or changed.") {
      try await Self.digest(of: store, filter, isDeep: deep)
    }
    if output.json { return try Console.print(json: Report(digest)) }
    try Console.print(months ? monthTable(digest) : typeTable(digest))
  }

  private static func digest(of store: HealthStore, _ filter: SampleFilter, isDeep: Bool) async throws -> RecordDigest {
    try await store.digests.keep()
    let digest = try await store.digests.current(filter).record
    guard isDeep else { return digest }
    var parts: [RecordDigest] = []
    for months in digest.parts(ofAtMost: partSize) {
      parts.append(try await store.digests.deep(filter, months: months).record)
    }
    return RecordDigest(joining: parts)
  }

  private func typeTable(_ digest: RecordDigest) -> Table {
    var table = Table(columns: [.init("TYPE")] + Self.columns(isDeep: deep))
    for type in digest.types {
      table.append([.init(type.type.shortName)] + cells(type.samples, type.tombstones, type.contents))
    }
    let contents = digest.types.reduce(UInt128(0)) { $0 &+ ($1.contents ?? 0) }
    table.append([.init("all")] + cells(digest.samples, digest.tombstones, contents))
    return table
  }

  private func monthTable(_ digest: RecordDigest) -> Table {
    var table = Table(columns: [.init("TYPE"), .init("MONTH")] + Self.columns(isDeep: deep))
    for type in digest.types {
      for month in type.months {
        table.append(
          [.init(type.type.shortName), .init(month.month.description)]
            + cells(month.samples, month.tombstones, month.contents))
      }
    }
    return table
  }

  private static func columns(isDeep: Bool) -> [Table.Column] {
    [.init("SAMPLES", .trailing), .init("DELETED", .trailing), .init("DIGEST", .trailing)]
      + (isDeep ? [.init("CONTENTS", .trailing)] : [])
  }

  private func cells(_ samples: SetDigest, _ tombstones: SetDigest, _ contents: UInt128?) -> [Table.Cell] {
    var both = samples
    both += tombstones
    return [
      .init(HumanFormat.count(samples.count)), .init(HumanFormat.count(tombstones.count)), .init(both.hex),
      .init(contents.map { SetDigest(sum: $0).hex } ?? ""),
    ]
  }
}

/// The digest in the format of `GET /api/v2/digest`.
private struct Report: Encodable {
  struct Entry: Encodable {
    var type: String
    var identifier: String
    var months: [Month]
  }

  struct Month: Encodable {
    var month: String
    var samples: Part
    var deleted: Part
    var contents: String?
  }

  struct Part: Encodable {
    var count: Int
    var sum: String

    init(_ digest: SetDigest) {
      (count, sum) = (digest.count, digest.hex)
    }
  }

  var version = 1
  var samples: Part
  var deleted: Part
  var types: [Entry]

  init(_ digest: RecordDigest) {
    samples = Part(digest.samples)
    deleted = Part(digest.tombstones)
    types = digest.types.map { type in
      Entry(
        type: type.type.shortName, identifier: type.type.rawValue,
        months: type.months.map { month in
          Month(
            month: month.month.description, samples: Part(month.samples), deleted: Part(month.tombstones),
            contents: month.contents.map { SetDigest(sum: $0).hex })
        })
    }
  }
}
