"""Full text on PostgreSQL: tables of words that triggers keep in step with `items`, and BM25 over them.

PostgreSQL's own ranking knows neither how rare a word is nor how long a text, and finds far less
(docs/postgres.md). So the words are counted here as FTS5 counts them, by the same stems, and the score of
each item is the one that SQLite gives it, digit by digit.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, text

from zomem_graph.stores.columns import UtcTime
from zomem_graph.stores.dialect import WordsHit, WordsQuery
from zomem_graph.stores.words import is_prefix, scope_choices

__all__ = ["create", "drop", "fault", "fill", "frequencies", "search"]

_COLUMNS = ("self", "prev", "next", "date", "title")
_COUNTS = ", ".join(f"in_{name}" for name in _COLUMNS)
_TABLES = f"""
create table if not exists items_fts_words (
    word text collate "C" not null, num bigint not null,
    {", ".join(f"in_{name} int not null" for name in _COLUMNS)}, primary key (word, num) include ({_COUNTS}));
create table if not exists items_fts_texts (num bigint primary key, scope text[] not null, size int not null);
create index if not exists ix_items_fts_scope on items_fts_texts using gin (scope);
create table if not exists items_fts_totals (one boolean primary key check (one), texts bigint, words bigint);
insert into items_fts_totals values (true, 0, 0) on conflict do nothing;
"""
_DICTIONARY = """
do $$ begin
    if not exists (select from pg_ts_dict where dictname = 'items_fts_porter'
                   and dictnamespace = current_schema()::regnamespace) then
        create text search dictionary items_fts_porter (template = pg_catalog.snowball, language = porter);
    end if;
end $$;
"""
# Two endings that FTS5 and Porter himself treat otherwise than his paper of 1980 ("bli", "logi"); letters
# lose their marks where the letter is Latin.
_STEM = r"""
create or replace function items_fts_stem(given text) returns text language sql immutable parallel safe as $$
    select case
        when octet_length(plain) < 3 or octet_length(plain) >= 64 then plain
        when right(stem, 3) = 'bli' and plain !~ 'e$' and stem ~ '[aeiouy][^aeiou].*bli$'
            then (ts_lexize('items_fts_porter', left(stem, -1) || 'e'))[1]
        when right(stem, 4) = 'logi' and plain !~ 'e$' and stem ~ '[aeiouy][^aeiou].*logi$' then left(stem, -1)
        else stem end
    from (select case when octet_length(given) = char_length(given) then given
        else normalize(regexp_replace(normalize(given, NFD), '([a-z])[\u0300-\u036f]+', '\1', 'g'), NFC)
        end as plain) folded
    cross join lateral (select coalesce((ts_lexize('items_fts_porter', plain))[1], plain) as stem) stemmed
$$;
"""
_WORDS_OF = f"""
create or replace function items_fts_words_of({", ".join(f"the_{name} text" for name in _COLUMNS)})
returns table (word text, {", ".join(f"in_{name} int" for name in _COLUMNS)})
language sql immutable parallel safe as $$
    select items_fts_stem(said.word), {
    ", ".join(f"count(*) filter (where place = {n})::int" for n in range(len(_COLUMNS)))
}
    from ({
    " union all ".join(
        f"select {n} as place, unnest(string_to_array(the_{name}, ' ')) as word" for n, name in enumerate(_COLUMNS)
    )
}) said where said.word <> '' group by 1
$$;
create or replace function items_fts_scope(scope text) returns text[] language sql immutable parallel safe as $$
    select array_remove(string_to_array(scope, ' '), '')
$$;
create or replace function items_fts_size(scope text, words text) returns int
language sql immutable parallel safe as $$
    select coalesce(array_length(array_remove(string_to_array(scope || ' ' || words, ' '), ''), 1), 0)
$$;
"""
_ALL = "concat_ws(' ', {0}.words_self, {0}.words_prev, {0}.words_next, {0}.words_date, {0}.words_title)"
_EACH = ", ".join(f"{{0}}.words_{name}" for name in _COLUMNS)
_LEARN = f"""
    insert into items_fts_texts select i.num, items_fts_scope(i.words_scope),
        items_fts_size(i.words_scope, {_ALL.format("i")}) from {{source}} i;
    insert into items_fts_words (word, num, {_COUNTS}) select w.word, i.num, {
    ", ".join(f"w.in_{name}" for name in _COLUMNS)
}
        from {{source}} i cross join lateral items_fts_words_of({_EACH.format("i")}) w;
    update items_fts_totals k set texts = k.texts + added.texts, words = k.words + added.words
        from (select count(*) as texts, coalesce(sum(t.size), 0) as words
              from {{source}} i join items_fts_texts t on t.num = i.num) added;
"""
_CHANGED = " or ".join(f"old.words_{name} is distinct from new.words_{name}" for name in ("scope", *_COLUMNS))
_TRIGGERS = {
    "items_fts_insert": "after insert on items referencing new table as added for each statement",
    "items_fts_delete": "after delete on items referencing old table as gone for each statement",
    "items_fts_update": f"after update on items for each row when ({_CHANGED})",
}
_BODIES = {
    "items_fts_insert": _LEARN.format(source="added"),
    "items_fts_delete": f"""
    update items_fts_totals k set texts = k.texts - lost.texts, words = k.words - lost.words
        from (select count(*) as texts, coalesce(sum(t.size), 0) as words
              from gone i join items_fts_texts t on t.num = i.num) lost;
    delete from items_fts_words w using (
        select i.num, said.word from gone i cross join lateral items_fts_words_of({_EACH.format("i")}) said) lost
        where w.word = lost.word and w.num = lost.num;
    delete from items_fts_texts t using gone i where t.num = i.num;
""",
    "items_fts_update": f"""
    update items_fts_totals k set words = k.words - t.size + items_fts_size(new.words_scope, {_ALL.format("new")})
        from items_fts_texts t where t.num = new.num;
    update items_fts_texts set scope = items_fts_scope(new.words_scope),
        size = items_fts_size(new.words_scope, {_ALL.format("new")}) where num = new.num;
    if ({_EACH.format("old")}) is distinct from ({_EACH.format("new")}) then
        delete from items_fts_words w using items_fts_words_of({_EACH.format("old")}) said
            where w.word = said.word and w.num = new.num
            and not exists (select from items_fts_words_of({_EACH.format("new")}) kept where kept.word = said.word);
        insert into items_fts_words (word, num, {_COUNTS})
            select word, new.num, {_COUNTS} from items_fts_words_of({_EACH.format("new")})
            on conflict (word, num) do update set {", ".join(f"in_{n} = excluded.in_{n}" for n in _COLUMNS)}
            where ({", ".join(f"items_fts_words.in_{n}" for n in _COLUMNS)})
                is distinct from ({", ".join(f"excluded.in_{n}" for n in _COLUMNS)});
    end if;
""",
}
_DROP = """
drop table if exists items_fts_words, items_fts_texts, items_fts_totals;
drop function if exists items_fts_words_of(text, text, text, text, text);
drop function if exists items_fts_size(text, text);
drop function if exists items_fts_scope(text);
drop function if exists items_fts_stem(text);
drop text search dictionary if exists items_fts_porter;
"""
_SAMPLE = 200  # items whose words are taken apart again by a check; of the others the sums are compared


def create(connection: Connection) -> None:
    """Make what is not there yet; nothing is filled."""
    connection.exec_driver_sql(_TABLES)
    connection.exec_driver_sql(_DICTIONARY)
    connection.exec_driver_sql(_STEM)
    connection.exec_driver_sql(_WORDS_OF)
    for name, when in _TRIGGERS.items():
        connection.exec_driver_sql(
            f"create or replace function {name}() returns trigger language plpgsql as $$ begin "
            f"{_BODIES[name]} return null; end $$"
        )
        connection.exec_driver_sql(f"drop trigger if exists {name} on items")
        connection.exec_driver_sql(f"create trigger {name} {when} execute function {name}()")


def drop(connection: Connection) -> None:
    """Remove all of it."""
    for name in _TRIGGERS:
        connection.exec_driver_sql(f"drop function if exists {name}() cascade")
    connection.exec_driver_sql(_DROP)


def fill(connection: Connection) -> None:
    """Learn every item; the tables are empty."""
    connection.exec_driver_sql(_LEARN.format(source="items"))


def fault(connection: Connection) -> str | None:
    """Compare triggers, sums of all items and the words of some with `items`; None when they agree."""
    ours = "select tgname from pg_trigger where tgrelid = to_regclass('items') and tgenabled <> 'D'"
    missing = sorted(set(_TRIGGERS) - set(connection.execute(text(ours)).scalars()))
    if missing:
        return f"triggers missing: {', '.join(missing)}"
    differing = connection.execute(text(_DIFFERENT)).scalars().all()
    if differing:
        return f"{len(differing)} items are not in the full text as they are, the first is number {differing[0]}"
    said = connection.execute(text(_WRONG_TOTALS)).scalar()
    return None if said is None else str(said)


_DIFFERENT = f"""
with counted as (
    select num, sum({" + ".join(f"in_{n}" for n in _COLUMNS)}) as size from items_fts_words group by num),
sums as (
    select coalesce(i.num, t.num, c.num) as num from items i full join items_fts_texts t on t.num = i.num
    full join counted c on c.num = coalesce(i.num, t.num)
    where i.num is null or t.num is null or t.scope <> items_fts_scope(i.words_scope)
    or t.size <> items_fts_size(i.words_scope, {_ALL.format("i")})
    or coalesce(c.size, 0) <> t.size - cardinality(t.scope)),
sample as (select * from items order by md5(num::text) limit {_SAMPLE}),
words as (
    select s.num from sample s cross join lateral items_fts_words_of({_EACH.format("s")}) w
    where not exists (select from items_fts_words k where k.word = w.word and k.num = s.num
        and ({", ".join(f"k.in_{n}" for n in _COLUMNS)}) = ({", ".join(f"w.in_{n}" for n in _COLUMNS)})))
select num from sums union select num from words order by num"""
_WRONG_TOTALS = """
select 'the totals of the full text are wrong' from items_fts_totals t,
    (select count(*) as texts, coalesce(sum(size), 0) as words from items_fts_texts) s
    where (t.texts, t.words) is distinct from (s.texts, s.words)"""


def frequencies(connection: Connection, stems: Sequence[str]) -> dict[str, int]:
    """Return in how many items each stem occurs; stems that occur nowhere are left out."""
    rows = connection.execute(
        text("select word, count(*) from items_fts_words where word = any(cast(:stems as text[])) group by word"),
        {"stems": list(stems)},
    )
    return {row[0]: row[1] for row in rows}


def search(connection: Connection, query: WordsQuery) -> list[WordsHit]:
    """Return the best items by BM25 as FTS5 defines it (k1 1.2, b .75, a word of half the texts or more near 0)."""
    terms = [term for term in dict.fromkeys(map(_plain, query.terms)) if term]
    if not terms or not query.personas or not query.kinds:
        return []
    values: dict[str, Any] = {
        "terms": [term for term in terms if not is_prefix(term)],
        "starts": [term for term in terms if is_prefix(term)],
        "scopes": list(scope_choices(query.personas, query.kinds, live_only=query.live_only)),
        "within": [] if query.within is None else [query.within],
        "limit": query.limit,
        **{f"weight_{name}": weight for name, weight in zip(_COLUMNS, query.weights, strict=True)},
    }
    during = ""
    for name, sign, at in (("since", ">=", query.since), ("until", "<", query.until)):
        if at is not None:
            values[name] = UtcTime().process_bind_param(at, None)  # type: ignore[arg-type]  # dialect is unused
            during += f" and i.created_at {sign} :{name}"
    joined = "join items i on i.num = s.num" if during else ""
    statement = _SEARCH.format(
        starts=_STARTS if values["starts"] else "", joined=joined, during=during, count=len(values["starts"])
    )
    rows = connection.execute(text(statement), values)
    return [WordsHit(num, score) for num, score in rows]


def _plain(term: str) -> str:
    return term.replace("\0", " ").encode("utf-8", "ignore").decode("utf-8").strip()


_SCORED = " + ".join(f"cast(:weight_{name} as float8) * w.in_{name}" for name in _COLUMNS)
_STARTS = f"""
    union all
    select 'start ' || a.word, 1, w.num, sum({_SCORED}) from unnest(cast(:starts as text[])) a(word)
    join items_fts_words w on w.word >= a.word and starts_with(w.word, a.word) and w.word < a.word || U&'\\+10FFFF'
    group by a.word, w.num"""
_SEARCH = f"""
with asked as (
    select items_fts_stem(said.word) as word, count(*) as times
    from unnest(cast(:terms as text[])) said(word) group by 1),
matched as (
    select 'word ' || a.word as phrase, a.times, w.num, {_SCORED} as heard
    from asked a join items_fts_words w on w.word = a.word{{starts}}),
rarity as (
    select phrase, greatest(ln((t.texts - count(*) + 0.5::float8) / (count(*) + 0.5::float8)), 1e-6) as idf
    from matched cross join items_fts_totals t group by phrase, t.texts),
scored as (
    select m.num, sum(m.times * r.idf * m.heard * 2.2
        / (m.heard + 1.2 * (0.25 + 0.75 * x.size * t.texts / t.words))) as score
    from matched m join rarity r on r.phrase = m.phrase join items_fts_texts x on x.num = m.num
    cross join items_fts_totals t
    where x.scope && cast(:scopes as text[]) and x.scope @> cast(:within as text[])
    group by m.num)
select s.num, s.score from scored s {{joined}} where true{{during}} order by s.score desc, s.num limit :limit"""
