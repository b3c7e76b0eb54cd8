import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct IdentityTests {
  @Test func theOrderInTheFileDoesNotMatter() throws {
    let elements = StandardExport.elements()
    let expected = try Reading(ExportText(elements))
    var generator = SeededGenerator(3)
    for _ in 0..<20 {
      let shuffled = try Reading(ExportText(elements.shuffled(using: &generator)))
      #expect(shuffled.uuids == expected.uuids)
      // The same identity means the same content, not only the same set.
      #expect(
        Dictionary(grouping: shuffled.samples, by: \.uuid).mapValues { Set($0.map(\.payload)) }
          == Dictionary(grouping: expected.samples, by: \.uuid).mapValues { Set($0.map(\.payload)) })
    }
  }

  @Test func offsetsUnitsAndDeviceAddressesDoNotMatter() throws {
    let expected = try Reading(ExportText(StandardExport.elements()))
    for (offset, address, imperial) in [(1, "0x1", false), (-7, "0x2f9", false), (2, "0x1", true), (5, "0x77", true)] {
      let elements = StandardExport.elements(offset: offset, address: address, imperial: imperial)
      let other = try Reading(ExportText(elements.reversed()))
      #expect(other.uuids == expected.uuids)
      let values = Dictionary(expected.samples.map { ($0.uuid, $0) }, uniquingKeysWith: { first, _ in first })
      for sample in other.samples {
        let before = try #require(values[sample.uuid])
        #expect(sample.isEquivalent(to: before))
        #expect(sample.device == before.device)
      }
    }
  }

  @Test func twinsAreRankedByValue() throws {
    let reading = try Reading(ExportText(["10", "9", "100"].map { ExportText.record(value: $0) }))
    for (ordinal, value) in [9.0, 10, 100].enumerated() {
      let sample = try #require(reading.samples.first { $0.payload == .quantity(Quantity(value, "count/min")) })
      #expect(
        sample.uuid
          == SampleIdentity.uuid(
            kind: "record", type: sample.type, source: "Watch", start: sample.start, end: sample.end,
            created: sample.created, ordinal: ordinal))
    }
    #expect(reading.report.equalKeys == 3)
  }

  @Test func twinsThatSayTheSameAreBothKept() throws {
    let reading = try Reading(ExportText(Array(repeating: ExportText.record(), count: 56)))
    #expect(reading.uuids.count == 56)
  }

  @Test func whatIsSaidMoreOftenThanAnyExportSaysItIsRefused() throws {
    let record = ExportText.record()
    #expect(throws: ImportError.tooManyAlike(limit: 100_000)) {
      try Reading(ExportText(Array(repeating: record, count: 100_001)))
    }
  }

  @Test func twinsWithEqualValuesAreRankedByMetadata() throws {
    let twins = ["b", "a", "c"].map { ExportText.record(children: ExportText.metadata("k", $0)) }
    let forth = try Reading(ExportText(twins))
    let back = try Reading(ExportText(twins.reversed()))
    #expect(
      Dictionary(uniqueKeysWithValues: forth.samples.map { ($0.uuid, $0.metadata) })
        == Dictionary(uniqueKeysWithValues: back.samples.map { ($0.uuid, $0.metadata) }))
  }

  @Test func anAddedRecordDoesNotRenameOthers() throws {
    let before = try Reading(ExportText((0..<50).map { ExportText.record(at: $0) }))
    let after = try Reading(ExportText((0..<60).map { ExportText.record(at: $0) }))
    #expect(before.uuids.isSubset(of: after.uuids))
  }

  @Test func twoSpellingsOfATextAreOneKey() throws {
    let reading = try Reading(ExportText(ExportText.record(source: "a’b"), ExportText.record(source: "a&#8217;b")))
    #expect(reading.report.equalKeys == 2)
    #expect(reading.uuids.count == 2)
  }

  // MARK: Correlations

  private func correlation(_ members: String..., created: Int = 301) -> String {
    #"<Correlation type="HKCorrelationTypeIdentifierBloodPressure" sourceName="Cuff &amp; Co""#
      + #" creationDate="\#(ExportText.date(created))""#
      + #" startDate="\#(ExportText.date(300))" endDate="\#(ExportText.date(300))">\#(members.joined())</Correlation>"#
  }

  private func members(_ sample: Sample?) -> [SampleReference] {
    guard case .correlation(let correlation) = sample?.payload else { return [] }
    return correlation.members
  }

  private func value(of sample: Sample?) -> Double? {
    guard case .quantity(let quantity) = sample?.payload else { return nil }
    return quantity.value
  }

  @Test func membersAreTheirTwinsAtTheTopLevel() throws {
    let (systolic, diastolic) = (
      StandardExport.pressure(0, at: 300, value: "120"), StandardExport.pressure(1, at: 300, value: "80")
    )
    let reading = try Reading(ExportText(systolic, diastolic, correlation(systolic, diastolic)))
    #expect(reading.recordCount == 2)
    #expect(reading.nestedCount == 2)
    #expect(reading.report.elements == ["Correlation": 1])
    #expect(reading.uuids.count == 3)
    let all = members(reading.samples.first { $0.payload.kind == "correlation" })
    #expect(all.map(\.uuid) == Array(reading.samples.prefix(2).map(\.uuid)))
    #expect(reading.report.equalKeys == 0)
  }

  @Test func membersWithoutATwinAreSamplesToo() throws {
    let reading = try Reading(ExportText(correlation(StandardExport.pressure(0, at: 300, value: "120"))))
    #expect(reading.samples.count == 2)
    #expect(reading.recordCount == 0)
    let member = try #require(members(reading.samples.first { $0.payload.kind == "correlation" }).first)
    #expect(value(of: reading.samples.first { $0.uuid == member.uuid }) == 120)
  }

  @Test func membersFindTheirTwinsAmongEquals() throws {
    let values = ["130", "110", "120"]
    let records = values.map { StandardExport.pressure(0, at: 300, value: $0) }
    let correlations = zip(records, 301...).map { correlation($0, created: $1) }
    var generator = SeededGenerator(5)
    var expected: [UUID: [UUID]]?
    for _ in 0..<10 {
      let reading = try Reading(ExportText((records + correlations).shuffled(using: &generator)))
      #expect(reading.uuids.count == 6)
      let found = Dictionary(
        uniqueKeysWithValues: reading.samples.filter { $0.payload.kind == "correlation" }.map {
          ($0.uuid, members($0).map(\.uuid))
        })
      for sample in reading.samples where sample.payload.kind == "correlation" {
        let created = try #require(sample.created).seconds - ExportText.start.seconds - 301
        let member = try #require(members(sample).first)
        #expect(value(of: reading.samples.first { $0.uuid == member.uuid }) == Double(values[Int(created)]))
      }
      #expect(found == expected ?? found)
      expected = found
    }
  }

  /// The file is like one from which records were removed by hand.
  @Test func aMemberTakesNoTwinThatSaysAnotherValue() throws {
    let twins = ["130", "110"].map { StandardExport.pressure(0, at: 300, value: $0) }
    let members = ["120", "130"].map { StandardExport.pressure(0, at: 300, value: $0) }
    let reading = try Reading(ExportText(twins + zip(members, 301...).map { correlation($0, created: $1) }))
    let records = Dictionary(grouping: reading.samples.filter { $0.payload.kind == "quantity" }, by: \.uuid)
    #expect(records.values.allSatisfy { Set($0.map { value(of: $0) }).count == 1 })
    #expect(Set(records.values.flatMap(\.self).map { value(of: $0) }) == [110, 120, 130])
  }

  @Test func equalMembersOfTwoCorrelationsTakeATwinEach() throws {
    let record = StandardExport.pressure(0, at: 300, value: "120")
    let elements = [record, record, correlation(record, created: 301), correlation(record, created: 302)]
    let forth = try Reading(ExportText(elements))
    let back = try Reading(ExportText(elements.reversed()))
    #expect(forth.uuids.count == 4)
    func pairs(_ reading: Reading) -> [UUID: [UUID]] {
      Dictionary(
        uniqueKeysWithValues: reading.samples.filter { $0.payload.kind == "correlation" }.map {
          ($0.uuid, members($0).map(\.uuid))
        })
    }
    #expect(pairs(forth) == pairs(back))
    #expect(Set(pairs(forth).values.flatMap(\.self)).count == 2)
  }

  @Test func equalCorrelationsAreRankedByTheirMembers() throws {
    let a = correlation(StandardExport.pressure(0, at: 300, value: "120"))
    let b = correlation(StandardExport.pressure(0, at: 300, value: "90"))
    func values(_ reading: Reading) -> [UUID: Double?] {
      Dictionary(
        uniqueKeysWithValues: reading.samples.filter { $0.payload.kind == "correlation" }.map { sample in
          (sample.uuid, value(of: reading.samples.first { $0.uuid == members(sample).first?.uuid }))
        })
    }
    let forth = values(try Reading(ExportText(a, b)))
    #expect(forth == values(try Reading(ExportText(b, a))))
    #expect(forth.count == 2)
  }

  @Test func theFilterForgetsNoKey() {
    var filter = KeyFilter(totalBytes: 0)
    var generator = SeededGenerator(9)
    let hashes = (0..<20_000).map { _ in UInt64.random(in: .min ... .max, using: &generator) }
    for hash in hashes { filter.insert(hash) }
    filter.flush()
    let inVain = filter.suspects.count
    #expect(inVain < 2000)
    for hash in hashes { filter.insert(hash) }
    filter.flush()
    #expect(filter.suspects.count == hashes.count)
  }

  @Test func theFilterIsLargeEnoughForLargeExports() {
    var filter = KeyFilter(totalBytes: 460 * 500_000)
    for index in UInt64(0)..<500_000 {
      let hash = index.folded(with: 0x1234)
      filter.insert(hash)
    }
    filter.flush()
    #expect(filter.suspects.count < 500)
  }
}
