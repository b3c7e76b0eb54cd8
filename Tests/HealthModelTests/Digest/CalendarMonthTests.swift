import HealthModel
import Testing

@Suite struct CalendarMonthTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", "1970-01", 0), ("1969-12-31T23:59:59.999999Z", "1969-12", -1),
      ("2024-02-29T23:59:59.999999Z", "2024-02", 649), ("2024-03-01T00:00:00Z", "2024-03", 650),
      ("0000-01-01T00:00:00Z", "0000-01", -23_640), ("-000001-12-31T23:59:59Z", "-000001-12", -23_641),
      ("+010000-01-01T00:00:00Z", "+010000-01", 96_360),
    ])
  func anInstantLiesInItsMonth(instant: String, text: String, number: Int) throws {
    let month = CalendarMonth(containing: try #require(Timestamp(iso8601: instant)))
    #expect(month.description == text)
    #expect(month.number == number)
    #expect(CalendarMonth(text) == month)
  }

  @Test func monthsFollowOneAnotherWithoutGaps() {
    for number in -3_000_000...3_000_000 where number % 997 == 0 || abs(number) < 1_000 {
      let (month, next) = (CalendarMonth(number: number), CalendarMonth(number: number + 1))
      #expect(month.instants.upperBound.microseconds + 1 == next.instants.lowerBound.microseconds, "\(month)")
      #expect(CalendarMonth(containing: month.instants.lowerBound) == month)
      #expect(CalendarMonth(containing: month.instants.upperBound) == month)
      #expect(CalendarMonth(month.description) == month)
    }
  }

  @Test func theEndsOfTimeAreMonthsToo() {
    for instant in [Timestamp(microseconds: .min), Timestamp(microseconds: .max)] {
      let month = CalendarMonth(containing: instant)
      #expect(month.instants.contains(instant))
      #expect(CalendarMonth(month.description) == month)
    }
    let (first, last) = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
    #expect(CalendarMonth(containing: first).instants.lowerBound == first)
    #expect(CalendarMonth(containing: last).instants.upperBound == last)
  }

  @Test(
    arguments: [
      "", "2024", "2024-", "2024-1", "2024-00", "2024-13", "24-01", "2024-01-01", " 2024-01", "+2024-01", "-0001-01",
      "2024-01 ", "２０２４-01", "+999999-01", "-290400-01", "2024-01\0", "999999999999-01",
    ])
  func otherTextsAreNoMonths(text: String) {
    #expect(CalendarMonth(text) == nil)
  }
}
