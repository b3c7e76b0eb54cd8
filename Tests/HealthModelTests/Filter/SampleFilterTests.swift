import Foundation
import HealthModel
import Testing

@Suite("Which samples are meant") struct SampleFilterTests {
  private static let (steps, height) = (SampleType("steps"), SampleType("height"))

  /// Returns a time in seconds, or an extreme time given in microseconds.
  private static func at(_ second: Int64) -> Timestamp {
    abs(second / 2) > 1 << 60 ? Timestamp(microseconds: second) : Timestamp(seconds: second)
  }

  @Test("the first second is meant, the end is not")
  func bounds() {
    let filter = SampleFilter(types: [Self.steps], earliest: Self.at(5), end: Self.at(8))
    let passing = (0..<12).filter { start in
      filter.passes(SampleReference(type: Self.steps, start: Self.at(start), uuid: UUID()))
    }
    #expect(passing == [5, 6, 7])
    #expect(!filter.passes(SampleReference(type: Self.height, start: Self.at(6), uuid: UUID())))
    #expect(
      filter.instants == Self.at(5)...Timestamp(microseconds: 7_999_999) && filter.range == Self.at(5)..<Self.at(8))
  }

  @Test(
    "what starts in one second passes together, whatever the fractions of bound and start", arguments: [0, 1, 999_999])
  func seconds(fraction: Int64) {
    let bound = Timestamp(microseconds: 5_000_000 + fraction)
    let first: Int64 = fraction == 0 ? 5 : 6
    for start: Int64 in [4_000_000, 4_999_999, 5_000_000, 5_000_001, 5_999_999, 6_000_000, 6_999_999] {
      let passes = start / 1_000_000 >= first
      #expect(SampleFilter(earliest: bound).passes(start: Timestamp(microseconds: start)) == passes)
      #expect(SampleFilter(end: bound).passes(start: Timestamp(microseconds: start)) == !passes)
    }
  }

  @Test("no bound is all of time, also its last instant")
  func everything() {
    #expect(SampleFilter.everything.range == nil)
    #expect(SampleFilter.everything.instants == Self.at(.min)...Self.at(.max))
    #expect(SampleFilter.everything.passes(start: Self.at(.max)))
    #expect(SampleFilter(earliest: Self.at(.max)).passes(start: Self.at(.max)))
  }

  @Test("an end before the beginning, and at the first instant of all, is nothing", arguments: [Int64.min, 4, 5])
  func nothing(end: Int64) {
    let filter = SampleFilter(earliest: Self.at(5), end: Self.at(end))
    #expect(filter.instants == nil && filter.range?.isEmpty == true)
    #expect(SampleFilter(end: Self.at(.min)).instants == nil)
  }

  private static let many: [SampleFilter] = {
    let bounds: [Timestamp?] = [nil, at(2), at(4), at(.min), at(.max)]
    return ([nil, [], [steps], [steps, height]] as [Set<SampleType>?]).flatMap { types in
      bounds.flatMap { earliest in bounds.map { SampleFilter(types: types, earliest: earliest, end: $0) } }
    }
  }()

  @Test("a filter contains another if whatever passes that one passes it too")
  func containment() {
    let starts = [1, 2, 3, 4, .min, .max - 1, .max].map(Self.at)
    let samples = [Self.steps, Self.height, SampleType("later")].flatMap { type in
      starts.map { SampleReference(type: type, start: $0, uuid: UUID()) }
    }
    for one in Self.many {
      #expect(one.isEmpty == !samples.contains(where: one.passes), "\(one)")
      for other in Self.many {
        let expected = samples.filter(other.passes).allSatisfy(one.passes)
        #expect(one.contains(other) == expected, "\(one) \(other)")
      }
    }
  }

  @Test("sources are names, and nothing of a source that is not known passes a limit to some")
  func sources() throws {
    let watch = SampleFilter(sources: ["watch"])
    #expect(watch.passes(source: "watch") && !watch.passes(source: "Watch") && !watch.passes(source: nil))
    #expect(SampleFilter.everything.passes(source: nil))
    #expect(SampleFilter(sources: []).isEmpty && !watch.isEmpty)
    let filters = [nil, [], ["watch"], ["watch", ""], ["phone"]].map { SampleFilter(sources: $0) }
    for one in filters {
      #expect(try JSONDecoder().decode(SampleFilter.self, from: JSONEncoder().encode(one)) == one)
      for other in filters {
        let both = one.intersection(other)
        for name in ["watch", "phone", "", nil] {
          #expect(both.passes(source: name) == (one.passes(source: name) && other.passes(source: name)))
        }
        #expect(one.contains(other) == (other.isEmpty || both == other), "\(one) \(other)")
      }
    }
  }

  @Test("what passes two filters passes their intersection, and nothing else does")
  func intersection() {
    for one in Self.many {
      for other in Self.many {
        let both = one.intersection(other)
        for type in [Self.steps, Self.height] { #expect(both.passes(type) == (one.passes(type) && other.passes(type))) }
        for start in [1, 2, 3, 4, .min, .max].map(Self.at) {
          let expected = one.passes(start: start) && other.passes(start: start)
          #expect(both.passes(start: start) == expected)
          #expect((both.instants?.contains(start) ?? false) == expected)
        }
      }
    }
  }

  @Test("as JSON it is what it was, to the microsecond, and names its types in order")
  func coding() throws {
    let filter = SampleFilter(
      types: [Self.steps, Self.height], earliest: Timestamp(microseconds: 1), end: Timestamp(microseconds: -1))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let json = String(decoding: try encoder.encode(filter), as: UTF8.self)
    #expect(
      json
        == #"{"earliest":"1970-01-01T00:00:00.000001Z","end":"1969-12-31T23:59:59.999999Z","types":["height","steps"]}"#
    )
    #expect(try JSONDecoder().decode(SampleFilter.self, from: Data(json.utf8)) == filter)
    #expect(try JSONDecoder().decode(SampleFilter.self, from: Data("{}".utf8)) == .everything)
    for hostile in [#"{"types":7}"#, #"{"earliest":1e300}"#, #"{"end":"yesterday"}"#, "[]"] {
      #expect(throws: DecodingError.self) { try JSONDecoder().decode(SampleFilter.self, from: Data(hostile.utf8)) }
    }
  }
}
